/**
 * A table that scrolls by itself where it is broader or longer than its place. The arrow keys, Home and End go through what
 * can be used in its rows, beside the Tab key.
 */
import { type KeyboardEvent, type ReactNode, useId } from "preact/compat"

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

export const Table = ({
  children,
  className = "",
  columns,
  isWaiting = false,
  label,
  total
}: {
  /** Its caption, which a screen reader says. */
  readonly label: string
  /** The headings of its columns, which may be equal. */
  readonly columns: ReadonlyArray<ReactNode>
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
  return (
    <div
      className={`scroll ${className}`}
      role="region"
      aria-labelledby={caption}
      aria-busy={isWaiting}
      tabIndex={0}
      onKeyDown={moveFocus}
    >
      <table aria-rowcount={total === undefined ? undefined : total + 1}>
        <caption id={caption} className="unseen">
          {label}
        </caption>
        <thead>
          <tr aria-rowindex={total === undefined ? undefined : 1}>
            {columns.map((column, index) => (
              <th key={index} scope="col">
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
