/** A table that scrolls by itself where it is broader than the page, with the keys as well. */
import type { ReactNode } from "react"

export const Table = ({
  children,
  className = "",
  columns,
  label
}: {
  /** What it is, for whoever does not see it. */
  readonly label: string
  /** The headings of its columns, which may be equal. */
  readonly columns: ReadonlyArray<ReactNode>
  /** How it scrolls: `broad` without breaking lines, `rows` within a height, `preview` with short cells. */
  readonly className?: "" | "broad" | "rows" | "preview"
  /** Its rows. */
  readonly children: ReactNode
}) => (
  <div className={`scroll ${className}`} role="region" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
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
