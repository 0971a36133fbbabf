/** A benchmark: what it compares, what it claims, and how both are printed. */
import type { Effect, Scope } from "effect"
import { median, type Measure, ratio, type Runs, valueOf } from "./Comparison.ts"

/** A figure beside the one it is to reach. */
export interface Claim {
  readonly what: string
  readonly value: number
  readonly target: { readonly atLeast: number } | { readonly atMost: number }
  readonly unit?: string
}

/** Medians of variants that did the same, and how each compares with the reference. */
export interface Table {
  readonly title: string
  /** What is counted, in the singular: `call`, `row`, `start`. */
  readonly unit: string
  readonly reference: string
  readonly runs: Runs
}

/** A table of other figures than those of runs. */
interface Grid {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** What a benchmark found. */
export interface Outcome {
  readonly tables: ReadonlyArray<Table>
  readonly grids?: ReadonlyArray<Grid>
  readonly claims: ReadonlyArray<Claim>
  /** Why a figure is what it is, where it is not what it should be: what a profile shows. */
  readonly notes?: ReadonlyArray<string>
}

export interface Benchmark {
  /** What `pnpm bench` calls it. */
  readonly name: string
  readonly title: string
  /** What is measured and how, for whoever reads the results. */
  readonly about: string
  /** Whether the command fails if a claim does not hold. */
  readonly mustHold?: boolean
  readonly run: Effect.Effect<Outcome, never, Scope.Scope>
}

/** A claim about what one variant has of another's. */
export const claimRatio = <Name extends string>(
  what: string,
  runs: Runs<Name>,
  measure: Measure,
  own: Name,
  reference: Name,
  target: Claim["target"]
): Claim => ({ what, value: ratio(runs, measure, own, reference), target, unit: "×" })

export const holds = ({ target, value }: Claim): boolean =>
  "atLeast" in target ? value >= target.atLeast : value <= target.atMost

const number = (value: number): string =>
  value === 0 || Number.isNaN(value)
    ? "–"
    : value >= 1000
      ? Math.round(value).toLocaleString("en-US")
      : value.toPrecision(3)

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const printTable = ({ reference, runs, title, unit }: Table): string => {
  const known = Object.values(runs)
  const extras = [...new Set(known.flatMap((figures) => figures.flatMap(({ more = {} }) => Object.keys(more))))]
  const head = [title, `${unit}s/s`, "of the reference", `CPU µs a ${unit}`, "of the reference", "peak MiB", ...extras]
  const lines = Object.entries(runs).map(([name, figures]) => {
    const of = (measure: Measure) => median(figures.map((figure) => valueOf(measure, figure)))
    const compared = (measure: Measure) => ratio(runs, measure, name, reference).toFixed(2)
    return row([
      name === reference ? `${name} (reference)` : name,
      number(of("rate")),
      compared("rate"),
      number(of("cpu") * 1e6),
      compared("cpu"),
      number(of("memory")),
      ...extras.map((extra) => number(median(figures.flatMap(({ more }) => more?.[extra] ?? []))))
    ])
  })
  return [row(head), row(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...lines].join("\n")
}

const printGrid = ({ head, rows }: Grid): string => [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")

const printClaim = (claim: Claim): string => {
  const { target, unit = "", value, what } = claim
  const wanted = "atLeast" in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`
  return row([what, `${value.toPrecision(3)} ${unit}`.trim(), wanted, holds(claim) ? "yes" : "**no**"])
}

/** The part of `RESULTS.md` that a benchmark has. */
export const print = ({ about, name, title }: Benchmark, { claims, grids = [], notes = [], tables }: Outcome): string =>
  [
    `## ${title}`,
    `\`pnpm bench ${name}\`. ${about}`,
    ...tables.map(printTable),
    ...grids.map(printGrid),
    [
      row(["claim", "measured", "wanted", "holds"]),
      row(["---", "---:", "---:", "---"]),
      ...claims.map(printClaim)
    ].join("\n"),
    ...(notes.length === 0 ? [] : [notes.map((note) => `- ${note}`).join("\n")])
  ].join("\n\n")
