/** What differs between two revisions, as lines for a terminal; what is equal takes one line. */

/** Sizes in bytes by what has them. */
export type Sizes = ReadonlyMap<string, number>

const bytes = new Intl.NumberFormat("en")
const signed = new Intl.NumberFormat("en", { signDisplay: "exceptZero" })
const percent = new Intl.NumberFormat("en", {
  style: "percent",
  signDisplay: "exceptZero",
  minimumFractionDigits: 2
})

/** The rows with their columns one under another, the first to the left and the others to the right. */
const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(width(column)) : cell.padStart(width(column))))
      .join("  ")
      .trimEnd()
  )
}

/** The names that only one side has. */
export const namesCompared = (before: ReadonlySet<string>, after: ReadonlySet<string>): ReadonlyArray<string> => {
  const lines = [...new Set([...before, ...after])]
    .toSorted()
    .flatMap((name) => (after.has(name) ? (before.has(name) ? [] : [`  + ${name}`]) : [`  - ${name}`]))
  return lines.length === 0 ? [`exports: as before (${bytes.format(after.size)} names)`] : ["exports:", ...lines]
}

/** The sizes that differ, the most changed one first, below their sum where it has a name. */
export const sizesCompared = (title: string, before: Sizes, after: Sizes, sum?: string): ReadonlyArray<string> => {
  const row = (name: string, was: number | undefined, is: number | undefined) => [
    `  ${name}`,
    was === undefined ? "none" : bytes.format(was),
    is === undefined ? "none" : bytes.format(is),
    signed.format((is ?? 0) - (was ?? 0)),
    was === undefined ? "new" : is === undefined ? "gone" : percent.format((is - was) / was)
  ]
  const distance = (name: string) => Math.abs((after.get(name) ?? 0) - (before.get(name) ?? 0))
  const total = (sizes: Sizes) => sizes.values().reduce((all, size) => all + size, 0)
  const changed = [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .toSorted((one, other) => distance(other) - distance(one))
    .map((name) => row(name, before.get(name), after.get(name)))
  if (changed.length === 0) return [`${title}: as before${sum === undefined ? "" : ` (${bytes.format(total(after))})`}`]
  const sums = sum === undefined ? [] : [row(sum, total(before), total(after))]
  return [`${title}:`, ...aligned([["", "before", "after", "difference", ""], ...sums, ...changed])]
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2
}

/** Pairs of CPU milliseconds of a start, before and after, by command. Chance alone rarely makes nine of ten agree. */
export const startsCompared = (
  measured: ReadonlyMap<string, ReadonlyArray<readonly [before: number, after: number]>>
): ReadonlyArray<string> => {
  const rows = Array.from(measured, ([name, times]) => {
    const [was, is] = [median(times.map(([before]) => before)), median(times.map(([, after]) => after))]
    const slower = times.filter(([before, after]) => after > before).length
    const faster = times.filter(([before, after]) => after < before).length
    const isMany = (count: number) => count >= 0.9 * times.length
    const verdict = isMany(slower) ? "slower" : isMany(faster) ? "faster" : "as before"
    const ratio = median(times.map(([before, after]) => after / before))
    return { verdict, cells: [`  ${name}`, `${was.toFixed(1)} ms`, `${is.toFixed(1)} ms`, ratio.toFixed(3), verdict] }
  })
  const isEqual = rows.every(({ verdict }) => verdict === "as before")
  const table = aligned([["", "before", "after", "ratio", ""], ...rows.map(({ cells }) => cells)])
  return [`CPU time of a start: ${isEqual ? "as before" : ""}`.trimEnd(), ...table]
}
