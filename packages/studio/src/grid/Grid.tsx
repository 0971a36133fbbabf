/**
 * A grid over any number of rows, of which it draws those that are seen. One moves by arrow keys, Page Up and Down, Home
 * and End, chooses rows with the space bar, and opens one with Enter.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react"
import * as GridScroll from "./GridScroll.ts"

/** What is drawn of a row: its cells, or nothing while it is loaded. */
export interface GridRow {
  /** Tells it from all others. */
  readonly id: string
  readonly cells: ReadonlyArray<string>
}

export interface GridProps {
  /** What the rows are, for whoever hears the page. */
  readonly label: string
  readonly columns: ReadonlyArray<string>
  /** The number of rows. */
  readonly total: number
  /** Draws rows from one to another, by `draw`. */
  readonly rows: (
    first: number,
    last: number,
    draw: (index: number, row: GridRow | undefined) => ReactNode
  ) => ReactNode
  /** The rows that are chosen, by their ids; without it none can be. */
  readonly chosen?: ReadonlySet<string> | undefined
  readonly onChoose?: ((id: string) => void) | undefined
  readonly onOpen?: ((id: string) => void) | undefined
}

export const Grid = ({ chosen, columns, label, onChoose, onOpen, rows, total }: GridProps) => {
  const scrolled = useRef<HTMLDivElement>(null)
  const id = useId()
  const [height, setHeight] = useState(600)
  const [first, setFirst] = useState(0)
  const [active, setActive] = useState(0)
  const [isPassing, setPassing] = useState(false)
  const passed = useRef<ReturnType<typeof setTimeout>>(undefined)
  /** The rows that are drawn, to find the active one by its place. */
  const drawn = useRef(new Map<number, string>())
  const viewed = { total, height }
  const shownFirst = Math.min(first, GridScroll.lastFirst(viewed))
  drawn.current.clear()

  useEffect(() => {
    const element = scrolled.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() =>
      setHeight(Math.max(GridScroll.rowHeight, element.clientHeight - GridScroll.rowHeight))
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const isScaled = GridScroll.isScaled(viewed)
  const moveTo = (row: number): void => {
    const next = Math.max(0, Math.min(row, GridScroll.lastFirst(viewed)))
    setFirst(next)
    if (scrolled.current !== null) scrolled.current.scrollTop = GridScroll.scrollTop(viewed, next)
  }

  useEffect(() => {
    const element = scrolled.current
    if (element === null || !isScaled) return undefined
    // A turn of the wheel moves by rows, where a pixel of the scroll bar stands for several.
    const turn = (event: WheelEvent) => {
      event.preventDefault()
      moveTo(shownFirst + event.deltaY / GridScroll.rowHeight)
    }
    element.addEventListener("wheel", turn, { passive: false })
    return () => element.removeEventListener("wheel", turn)
  })

  const onScroll = (): void => {
    const at = scrolled.current?.scrollTop ?? 0
    // What `moveTo` scrolled to stands for a row exactly.
    if (Math.abs(at - GridScroll.scrollTop(viewed, shownFirst)) <= 1) return
    const next = GridScroll.firstRow(viewed, at)
    setFirst(next)
    if (Math.abs(next - shownFirst) <= GridScroll.fitting(viewed)) return
    // The scroll bar is being pulled: what it passes is not loaded.
    setPassing(true)
    clearTimeout(passed.current)
    passed.current = setTimeout(() => setPassing(false), 80)
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    const row = drawn.current.get(active)
    const next = GridScroll.rowAfterKey(viewed, active, event.key)
    if (next !== undefined) {
      setActive(next)
      moveTo(GridScroll.firstToSee(viewed, shownFirst, next))
    } else if (event.key === "Enter" && row !== undefined) onOpen?.(row)
    else if (event.key === " " && row !== undefined) onChoose?.(row)
    else return
    event.preventDefault()
  }

  const begin = Math.max(0, Math.floor(shownFirst) - 4)
  const end = Math.min(total - 1, Math.ceil(shownFirst) + GridScroll.fitting(viewed) + 4)
  const top = GridScroll.scrollTop(viewed, shownFirst)
  const template = `${onChoose === undefined ? "" : "2.2rem "}${columns.map((_, at) => (at === 0 ? "minmax(14rem, 1.5fr)" : "minmax(9rem, 1fr)")).join(" ")}`

  const draw = (index: number, row: GridRow | undefined): ReactNode => {
    if (row !== undefined) drawn.current.set(index, row.id)
    const isChosen = row !== undefined && chosen?.has(row.id) === true
    return (
      <div
        key={index}
        id={`${id}-${index}`}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={chosen === undefined ? undefined : isChosen}
        className={index === active ? "row active" : "row"}
        style={{
          top: top + (index - shownFirst) * GridScroll.rowHeight + GridScroll.rowHeight,
          gridTemplateColumns: template
        }}
        onClick={() => setActive(index)}
        onDoubleClick={() => row !== undefined && onOpen?.(row.id)}
      >
        {onChoose === undefined ? null : (
          <div role="gridcell">
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={`Choose ${row?.cells[0] ?? "row"}`}
              checked={isChosen}
              disabled={row === undefined}
              onChange={() => row !== undefined && onChoose(row.id)}
            />
          </div>
        )}
        {columns.map((column, at) => (
          <div key={column} role="gridcell" title={row?.cells[at]}>
            {at === 0 && onOpen !== undefined && row !== undefined ? (
              <button type="button" className="link" tabIndex={-1} onClick={() => onOpen(row.id)}>
                {row.cells[at]}
              </button>
            ) : (
              (row?.cells[at] ?? "…")
            )}
          </div>
        ))}
      </div>
    )
  }

  return (
    <div
      ref={scrolled}
      className="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns.length}
      aria-multiselectable={onChoose === undefined ? undefined : true}
      aria-activedescendant={total === 0 ? undefined : `${id}-${active}`}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div role="row" aria-rowindex={1} className="row head" style={{ gridTemplateColumns: template }}>
        {onChoose === undefined ? null : (
          <div role="columnheader">
            <span className="unseen">Chosen</span>
          </div>
        )}
        {columns.map((column) => (
          <div key={column} role="columnheader">
            {column}
          </div>
        ))}
      </div>
      <div className="space" role="presentation" style={{ height: GridScroll.scrollHeight(viewed) }} />
      {total === 0
        ? null
        : isPassing
          ? Array.from({ length: end - begin + 1 }, (_, at) => draw(begin + at, undefined))
          : rows(begin, end, draw)}
    </div>
  )
}
