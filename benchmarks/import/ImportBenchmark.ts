import { Effect } from "effect"
import { join } from "node:path"
import { type Benchmark, type Claim, claimRatio } from "../src/Benchmark.ts"
import { compare, median, ratio, valueOf } from "../src/Comparison.ts"
import { folder } from "../src/Files.ts"
import { prepareProbe, probe } from "../src/Probe.ts"
import { csvFile } from "../src/Records.ts"
import { ask, serve } from "../src/Served.ts"
import { importFile } from "../src/ServedJobs.ts"
import { manyRows, rounds } from "../src/Settings.ts"
import type { Figure } from "../src/Trial.ts"
import { trial } from "../src/Variant.ts"

const few = 10_000
/** So many rows at first: what a process costs that has been running for a while. */
const warming = 50_000

/** Sends a file to a service, and asks it for other things until the last row is in the store. */
const imported = (rows: number, options: { readonly warm?: boolean; readonly adds?: boolean } = {}) =>
  Effect.gen(function* () {
    const served = yield* serve(join(yield* folder, "roster.db"))
    return yield* Effect.promise(async (): Promise<Figure> => {
      const { adds = false, warm = false } = options
      if (warm) {
        await importFile(served, warming)
        await ask(served, "POST", "/contacts/delete", JSON.stringify({ Rule: "All" }))
      }
      await prepareProbe(served)
      const before = { at: performance.now(), cpu: served.cpu() }
      const finished = importFile(served, rows).then(() => ({
        seconds: (performance.now() - before.at) / 1000,
        cpuSeconds: served.cpu() - before.cpu
      }))
      const more = warm ? {} : { more: await probe(served, finished, { adds }) }
      return { units: rows, ...(await finished), peakMiB: served.peakMiB(), ...more }
    })
  }).pipe(Effect.scoped)

const run = Effect.gen(function* () {
  const runs = yield* compare([
    {
      ...trial("node:sqlite, prepared rows", new URL("preparedRows.ts", import.meta.url), { file: csvFile(manyRows) }),
      name: "node:sqlite, prepared rows" as const
    },
    { name: "import over HTTP" as const, run: imported(manyRows) }
  ])
  const contended = yield* compare(
    [{ name: "import over HTTP, others add too" as const, run: imported(manyRows / 5, { adds: true }) }],
    { rounds: Math.min(rounds, 3) }
  )
  const growth = yield* compare([{ name: "10,000 rows" as const, run: imported(few, { warm: true }) }])
  // Too long for every round.
  const large = yield* compare([{ name: "4,000,000 rows" as const, run: imported(4 * manyRows) }], {
    rounds: 1
  })
  const sizes = { ...growth, "1,000,000 rows": runs["import over HTTP"], ...large }
  const of = (figures: ReadonlyArray<Figure>, what: string) => median(figures.flatMap(({ more }) => more?.[what] ?? []))
  const peak = (figures: ReadonlyArray<Figure>) => median(figures.map((figure) => valueOf("memory", figure)))
  const claims: ReadonlyArray<Claim> = [
    claimRatio("rows/s of node:sqlite, prepared rows", runs, "rate", "import over HTTP", "node:sqlite, prepared rows", {
      atLeast: 0.75
    }),
    {
      what: "p99 of GETs meanwhile",
      value: of(runs["import over HTTP"], "GET p99 ms"),
      target: { atMost: 20 },
      unit: "ms"
    },
    {
      what: "time of a row, 10,000 → 1,000,000 rows",
      value: ratio(sizes, "time", "1,000,000 rows", "10,000 rows"),
      target: { atMost: 1.3 },
      unit: "×"
    },
    {
      what: "peak memory, 1,000,000 rows",
      value: peak(runs["import over HTTP"]),
      target: { atMost: 350 },
      unit: "MiB"
    },
    {
      what: "peak memory, 1,000,000 → 4,000,000 rows",
      value: peak(large["4,000,000 rows"]) / peak(runs["import over HTTP"]),
      target: { atMost: 1.1 },
      unit: "×"
    },
    { what: "peak memory, 4,000,000 rows", value: peak(large["4,000,000 rows"]), target: { atMost: 350 }, unit: "MiB" }
  ]
  return {
    tables: [
      { title: "1,000,000 rows", unit: "row", reference: "node:sqlite, prepared rows", runs },
      {
        title: "200,000 rows, while others add",
        unit: "row",
        reference: "import over HTTP, others add too",
        runs: contended
      },
      { title: "sizes", unit: "row", reference: "10,000 rows", runs: sizes }
    ],
    claims,
    notes: [
      "In a profile of the job thread, upserts take 49 % of the time, commits with their syncs and " +
        "checkpoints 20 %, other statements 4 % and garbage collection 4 %; the rest is reading, checking and " +
        "counting rows and the address filter. In SQLite alone, the insert takes 5.4 µs and the index by the " +
        "order of adding 0.7 µs. The reference has neither that index, nor the counts for paging, nor the " +
        "addresses by which repeats are counted, nor the file itself in a temporary file, the WAL and the " +
        "store.",
      "Beyond a million rows, the index by address is larger than the cache, and each row with a random " +
        "address reads and writes one of its pages."
    ]
  }
})

/** What an import costs, and what it costs others meanwhile. */
export const importBenchmark: Benchmark = {
  name: "import",
  title: "Importing a file over HTTP",
  about:
    "A CSV file of four columns is uploaded to `roster serve` as multipart; time runs from the first byte " +
    "until the job is Ready, with every row checked, counted and compared for repeats. Meanwhile single " +
    "contacts are read every few milliseconds, with their latencies in the table; in three separate rounds " +
    "of 200,000 rows, 25 contacts a second are added as well. The reference reads the same file in one " +
    "process and writes it with one prepared statement, 10,000 rows per transaction, with the same key, " +
    "merge and durability. The 10,000 rows run in a process that has imported before; the 4,000,000 are one " +
    "round.",
  run
}
