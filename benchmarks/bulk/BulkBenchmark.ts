import { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Benchmark, type Claim, claimRatio } from "../src/Benchmark.ts"
import { compare, type Measure, median, valueOf } from "../src/Comparison.ts"
import { built, roster } from "../src/Files.ts"
import { csvFile } from "../src/Records.ts"
import { rounds } from "../src/Settings.ts"
import type { Figure } from "../src/Trial.ts"
import { type Arguments, command, type Server, server, trial, type Variant } from "../src/Variant.ts"

const million = 1_000_000
const key = "a".repeat(64)

/** Whoever says that it sent the rows has: the other side counts the requests, and what a row takes at the least. */
const delivered = <V extends Variant>(variant: V, { url }: Server, rows: number, times = 1): V => ({
  ...variant,
  run: Effect.tap(variant.run, () =>
    Effect.promise(async () => {
      // What the sink counts.
      const seen = (await (await fetch(url)).json()) as { readonly bodies: number; readonly bytes: number }
      const { bodies, bytes } = seen
      if (bodies !== times * Math.ceil(rows / 1000) || bytes < times * rows * 80) {
        throw new Error(`${variant.name} sent ${bodies} requests of ${bytes} bytes in all`)
      }
    })
  )
})

const sink = (values: { readonly delay: number; readonly answer: number }) =>
  server(new URL("sink.ts", import.meta.url), values)

const named = <Name extends string>(name: Name, source: string, to: Server, atOnce: number, rows = million) => {
  const values: Arguments = { url: `${to.url}/v4`, "at-once": atOnce, file: csvFile(rows) }
  return delivered({ ...trial(name, new URL(source, import.meta.url), values), name }, to, rows)
}

/** The command as it is installed, whose units are rows. The run that its memory is looked at in sends them too. */
const imported = <Name extends string>(name: Name, to: Server) => {
  const env = { HOME: join(built, "home"), XDG_STATE_HOME: "", ROSTER_BASE_URL: `${to.url}/v4`, ROSTER_API_KEY: key }
  // What it records for an undo is measured by `bench changes`: the sink has no contacts to read.
  const args = [process.execPath, roster, "contacts", "import", csvFile(million), "--quiet", "--no-record"] as const
  const { run } = command(name, args, { starts: 1, env })
  const inRows = Effect.map(run, (figure): Figure => ({ ...figure, units: million }))
  return delivered({ name, run: inRows }, to, million, 2)
}

const pipeline = "byte pipeline, written by hand"
const onePass = "addRows, in one pass"
const report = "makeImport, with its report"
const cliImport = "roster contacts import"
const official = "official client + csv-parse"

/** What the official client is given: it is measured by rows a second, and takes long. */
const few = 250_000

const of = (measure: Measure, figures: ReadonlyArray<Figure>) =>
  median(figures.map((figure) => valueOf(measure, figure)))

const run = Effect.gen(function* () {
  mkdirSync(join(built, "home"), { recursive: true })
  const quick = yield* sink({ delay: 0, answer: 0 })
  const runs = yield* compare([
    named(pipeline, "pipeline.ts", quick, 8),
    named(onePass, "addRows.ts", quick, 8),
    named(report, "upload.ts", quick, 8),
    imported(cliImport, quick),
    named(official, "official.ts", quick, 8, few)
  ])

  const full = yield* sink({ delay: 0, answer: 1000 })
  const answered = yield* compare([
    named(pipeline, "pipeline.ts", full, 8),
    named(onePass, "addRows.ts", full, 8),
    named(report, "upload.ts", full, 8),
    named(official, "official.ts", full, 8, few)
  ])

  const far = yield* sink({ delay: 50, answer: 0 })
  const slow = yield* compare([named(pipeline, "pipeline.ts", far, 16), named(onePass, "addRows.ts", far, 16)])

  const sizes = yield* compare(
    [
      named("addRows, 10 rows", "addRows.ts", quick, 8, 10),
      named("addRows, 10^4 rows", "addRows.ts", quick, 8, 10_000),
      named("addRows, 10^6 rows", "addRows.ts", quick, 8),
      named("addRows, 4·10^6 rows", "addRows.ts", quick, 8, 4 * million)
    ],
    { rounds: Math.min(rounds, 3) }
  )
  const startUp = of("cpu", sizes["addRows, 10 rows"]) * 10
  const perRow = (name: keyof typeof sizes, rows: number) => of("cpu", sizes[name]) - startUp / rows
  const flat = (what: string, own: keyof typeof sizes, reference: keyof typeof sizes) =>
    claimRatio(`peak memory ${what}, 4·10^6 rows to 10^6`, sizes, "memory", own, reference, { atMost: 1.1 })
  const peak = (what: string, figures: ReadonlyArray<Figure>, atMost: number): Claim => ({
    what: `peak memory ${what}, 10^6 rows`,
    value: of("memory", figures),
    target: { atMost },
    unit: "MiB"
  })
  const claims: ReadonlyArray<Claim> = [
    claimRatio("rows/s in one pass, of the pipeline", runs, "rate", onePass, pipeline, { atLeast: 0.5 }),
    claimRatio("rows/s with report and record, of the pipeline", runs, "rate", report, pipeline, { atLeast: 0.8 }),
    claimRatio("rows/s of the command, of the pipeline", runs, "rate", cliImport, pipeline, { atLeast: 0.8 }),
    claimRatio("rows/s in one pass, contacts answered, of the pipeline", answered, "rate", onePass, pipeline, {
      atLeast: 0.8
    }),
    claimRatio("rows/s in one pass, contacts answered, of the official client", answered, "rate", onePass, official, {
      atLeast: 5
    }),
    claimRatio(
      "rows/s with report and record, contacts answered, of the official client",
      answered,
      "rate",
      report,
      official,
      { atLeast: 5 }
    ),
    claimRatio("rows/s in one pass, nothing answered, of the official client", runs, "rate", onePass, official, {
      atLeast: 1.5
    }),
    claimRatio("rows/s at 50 ms, 16 at once, of the pipeline", slow, "rate", onePass, pipeline, { atLeast: 0.97 }),
    {
      what: "CPU of a row in 10^6, of one in 10^4, without start-up",
      value: perRow("addRows, 10^6 rows", million) / perRow("addRows, 10^4 rows", 10_000),
      target: { atMost: 1.3 },
      unit: "×"
    },
    peak("in one pass", runs[onePass], 150),
    // The addresses are in memory, to find those that come twice.
    peak("with report", runs[report], 300),
    flat("in one pass", "addRows, 4·10^6 rows", "addRows, 10^6 rows")
  ]
  return {
    tables: [
      { title: "10^6 rows, 8 at once, answered with an empty list", unit: "row", reference: pipeline, runs },
      { title: "the same, answered with 1000 contacts", unit: "row", reference: pipeline, runs: answered },
      { title: "at 50 ms, 16 at once, answered with an empty list", unit: "row", reference: pipeline, runs: slow },
      { title: "sizes", unit: "row", reference: "addRows, 10^6 rows", runs: sizes }
    ],
    claims,
    notes: [
      "With a report of every row, the file is read twice: the first pass checks every row and finds " +
        "repeated addresses (docs/decisions/bulk-import.md), with the address of each row in memory. So it does more " +
        "than the pipeline, which copies bytes where Roster makes the contacts of rows.",
      "From 10^6 to 4·10^6 rows, memory grows by V8's young generation, which expands over time, and by " +
        "buffers not collected yet; the live data stay the same.",
      "With almost empty answers, the official client reaches a third of the pipeline's rate at best."
    ]
  }
})

/** What it costs to bring a file of contacts to a service. */
export const bulkBenchmark: Benchmark = {
  name: "bulk",
  title: "Bulk add of a CSV file",
  about:
    "Whole processes read a file of 10^6 rows (e-mail, two names, one custom field; 47 MB), check every row " +
    "and post 1000 per request to a server in another process, which reads and counts everything. The " +
    "reference is written by hand for this very file: it checks cells and addresses byte by byte, writes the " +
    "JSON of 1000 rows into one buffer and would fail on anything unusual. `addRows` does the same in one " +
    "pass for any CSV: each row is validated by the rules of the schema or refused with its line, and every " +
    "request has the usual retries, budget, idempotency key and metrics. `makeImport` and `roster " +
    "contacts import` promise more: they check the whole file before anything is sent, send only the last " +
    "row of each address, and keep a synced record from which an interrupted upload resumes. The real " +
    "service answers with the contacts, as in the second table; in the first table there is almost nothing " +
    "to read, which is harder. The official client makes as many calls at once, with only 250,000 rows " +
    "because it is slow.",
  run
}
