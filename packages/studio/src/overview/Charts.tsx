/** Pictures of numbers as plain SVG. A table beside them has the same numbers for whoever does not see them. */
import { monthWords, number } from "../texts/Language.ts"
import { overviewTexts } from "../texts/OverviewTexts.ts"
import type { Figure } from "./OverviewAtoms.ts"

/** A number beside the largest one. */
export const Share = ({ of, among }: { readonly of: number; readonly among: number }) => (
  <svg className="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect className="ground" width="100" height="8" rx="1" />
    <rect width={among === 0 ? 0 : Math.max(of === 0 ? 0 : 0.5, (100 * of) / among)} height="8" rx="1" />
  </svg>
)

const height = 100

/** The months that are drawn at least. */
const fewest = 12

/** The months before the first one, in which nobody was added, so that one month is a bar and no wall. */
const withEarlier = (months: ReadonlyArray<Figure>): ReadonlyArray<Pick<Figure, "contacts" | "name">> => {
  const [first] = months
  if (first === undefined) return months
  const missing = Math.max(0, fewest - months.length)
  const from = new Date(`${first.name}-01T00:00:00Z`)
  from.setUTCMonth(from.getUTCMonth() - missing)
  return [
    ...Array.from({ length: missing }, (_, at) => {
      const month = new Date(from)
      month.setUTCMonth(month.getUTCMonth() + at)
      return { contacts: 0, name: month.toISOString().slice(0, 7) }
    }),
    ...months
  ]
}

/** How many were added in each month, with the first and the last month below. */
export const Growth = ({ label, months: told }: { readonly label: string; readonly months: ReadonlyArray<Figure> }) => {
  const months = withEarlier(told)
  const most = Math.max(1, ...months.map(({ contacts }) => contacts))
  const [first] = months
  const last = months.at(-1)
  return (
    <div className="growth">
      <small aria-hidden="true">{number(most)}</small>
      <svg viewBox={`0 0 ${months.length} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {months.map(({ contacts, name }, at) => {
          const tall = (contacts / most) * height
          return (
            <rect key={name} x={at + 0.1} y={height - tall} width={0.8} height={tall}>
              <title>{overviewTexts.inMonth(monthWords(name), contacts)}</title>
            </rect>
          )
        })}
      </svg>
      <div className="ends" aria-hidden="true">
        <small>{first === undefined ? "" : monthWords(first.name)}</small>
        <small>{last === undefined || last === first ? "" : monthWords(last.name)}</small>
      </div>
    </div>
  )
}
