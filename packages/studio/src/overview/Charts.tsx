/** Pictures of numbers as plain SVG. A table beside them has the same numbers for whoever does not see them. */
import type { Figure } from "./OverviewAtoms.ts"

/** A number beside the largest one. */
export const Share = ({ of, among }: { readonly of: number; readonly among: number }) => (
  <svg className="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect className="ground" width="100" height="8" rx="1" />
    <rect width={among === 0 ? 0 : Math.max(of === 0 ? 0 : 0.5, (100 * of) / among)} height="8" rx="1" />
  </svg>
)

const width = 640
const height = 160

/** How many were added in each month. */
export const Growth = ({ label, months }: { readonly label: string; readonly months: ReadonlyArray<Figure> }) => {
  const most = Math.max(1, ...months.map(({ contacts }) => contacts))
  const step = width / Math.max(1, months.length)
  return (
    <svg className="growth" viewBox={`0 0 ${width} ${height + 18}`} role="img" aria-label={label}>
      <line x1="0" x2={width} y1={height} y2={height} />
      {months.map(({ contacts, name }, at) => {
        const tall = (contacts / most) * (height - 8)
        const isNamed = at % Math.ceil(months.length / 8) === 0
        return (
          <g key={name}>
            <rect x={at * step + step * 0.12} y={height - tall} width={step * 0.76} height={tall}>
              <title>{`${name}: ${contacts.toLocaleString()}`}</title>
            </rect>
            {isNamed ? (
              <text x={at * step + step * 0.12} y={height + 14}>
                {name}
              </text>
            ) : null}
          </g>
        )
      })}
    </svg>
  )
}
