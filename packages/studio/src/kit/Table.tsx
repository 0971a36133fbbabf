/**
 * A table that scrolls by itself where it is broader or longer than its place. The arrow keys, Home and End go through what
 * can be used in its rows, beside the Tab key. In a narrow window each row is a card, by `style.css`.
 */
import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef } from "preact/compat"
import { number } from "../texts/Language.ts"

/** What is used in a row by a key of its own; a field or choice needs the arrow keys itself. */
const used = "a[href], button:enabled, input[type=checkbox]:enabled"

const usedIn = (row: Element | undefined): ReadonlyArray<HTMLElement> => [
  ...(row?.querySelectorAll<HTMLElement>(used) ?? [])
]

const moves: Readonly<Record<string, readonly [rows: number, places: number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  Home: [-Infinity, 0],
  End: [Infinity, 0]
}

const within = (at: number, length: number): number => Math.max(0, Math.min(at, length - 1))

const moveFocus = (event: KeyboardEvent<HTMLElement>): void => {
  const move = moves[event.key]
  const from = event.target
  if (move === undefined || !(from instanceof HTMLElement) || !from.matches(used)) return
  const rows = [...event.currentTarget.querySelectorAll("tbody tr")].filter((row) => usedIn(row).length > 0)
  const at = rows.findIndex((row) => row.contains(from))
  const row = usedIn(rows[within(at + move[0], rows.length)])
  row[within(usedIn(rows[at]).indexOf(from) + move[1], row.length)]?.focus()
  event.preventDefault()
}

/** Writes the heading of its column at each cell, where a card shows it, if that is seen. A cell may stand beside several rows. */
const nameCells = ({ tBodies, tHead }: HTMLTableElement): void => {
  const headings = Array.from(tHead?.rows[0]?.cells ?? [], (cell) =>
    cell.querySelector(".unseen") === null ? cell.textContent.trim() : ""
  )
  // The number of rows below for which a column is taken.
  const taken = headings.map(() => 0)
  for (const row of tBodies[0]?.rows ?? []) {
    let at = 0
    for (const cell of row.cells) {
      for (let more = taken[at] ?? 0; more > 0; more = taken[++at] ?? 0) taken[at] = more - 1
      const heading = cell.tagName === "TH" || cell.colSpan > 1 ? "" : (headings[at] ?? "")
      if (cell.dataset["heading"] !== heading) cell.dataset["heading"] = heading
      taken[at] = cell.rowSpan - 1
      at += cell.colSpan
    }
  }
}

/** What has its whole text as its title, which goes where the text is another one. */
const told = new WeakSet<Element>()

/** Says the whole of a text that is cut off, where one points at it. */
const sayWhole = ({ target }: MouseEvent): void => {
  const cell = target instanceof HTMLElement ? target.closest<HTMLElement>("td, th") : null
  if (!(target instanceof HTMLElement) || cell === null) return
  for (const one of [target, cell]) {
    const isCut = one.scrollWidth > one.clientWidth
    if (!told.has(one) && (!isCut || one.title !== "")) continue
    told.add(one)
    one.title = isCut ? one.textContent : ""
  }
}

/** The heading of a column of numbers, which stand at its end. */
export const Numbers = ({ children }: { readonly children: ReactNode }) => <span className="number">{children}</span>

/** A cell with a number; a dash for none, so that the others stand out. */
export const Count = ({ of }: { readonly of: number }) => (
  <td className={of === 0 ? "number none" : "number"}>{of === 0 ? "–" : number(of)}</td>
)

export const Table = ({
  children,
  className = "",
  columns,
  isWaiting = false,
  label,
  sorted = [],
  total
}: {
  /** Its caption, which a screen reader says. */
  readonly label: string
  /** The headings of its columns, which may be equal. */
  readonly columns: ReadonlyArray<ReactNode>
  /** How its rows are sorted by each of the columns, as far as they can be. */
  readonly sorted?: ReadonlyArray<"ascending" | "descending" | "none" | undefined>
  /** How it scrolls: `broad` without breaking lines, `rows` within a height, `preview` with short cells. */
  readonly className?: string
  /** The number of rows if those that are shown are not all; each of them says its place by `aria-rowindex`, from 2. */
  readonly total?: number | undefined
  /** Whether other rows are on their way. */
  readonly isWaiting?: boolean
  /** Its rows. */
  readonly children: ReactNode
}) => {
  const caption = useId()
  const table = useRef<HTMLTableElement>(null)
  useLayoutEffect(() => {
    if (table.current !== null) nameCells(table.current)
  })
  return (
    <div
      className={`scroll ${className}`}
      role="region"
      aria-labelledby={caption}
      aria-busy={isWaiting}
      tabIndex={0}
      onKeyDown={moveFocus}
      onMouseOver={sayWhole}
    >
      <table ref={table} aria-rowcount={total === undefined ? undefined : total + 1}>
        <caption id={caption} className="unseen">
          {label}
        </caption>
        <thead>
          <tr aria-rowindex={total === undefined ? undefined : 1}>
            {columns.map((column, index) => (
              <th key={index} scope="col" aria-sort={sorted[index]}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
