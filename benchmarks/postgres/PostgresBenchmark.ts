import { Effect } from "effect"
import { join } from "node:path"
import { ask as askCalls, serve as serveCalls, type ServedStore, serveRoster } from "../service/ServedStore.ts"
import { type Benchmark, type Claim, claimRatio, type Table } from "../src/Benchmark.ts"
import { compare, median, type Runs, valueOf } from "../src/Comparison.ts"
import { folder } from "../src/Files.ts"
import { prepareProbe, probe } from "../src/Probe.ts"
import { csvFile } from "../src/Records.ts"
import { ask, serve } from "../src/Served.ts"
import { askForExport, lengthOf, upload } from "../src/ServedJobs.ts"
import { manyRows, rounds } from "../src/Settings.ts"
import type { Figure } from "../src/Trial.ts"
import { runTrial } from "../src/Variant.ts"
import { type DatabaseServer, databaseServer, run as runStatements, untilReady } from "./Server.ts"

const script = "script with pg"
const own = "roster serve"
const two = "two roster serve"

/** Long runs, which need fewer rounds for the same certainty. */
const longRounds = Math.min(rounds, 3)

const known = 10_000

const databaseCpu = "CPU µs of the database"

/** Adds what the database cost meanwhile. */
const withDatabase = (server: DatabaseServer, run: Effect.Effect<Figure>) =>
  Effect.gen(function* () {
    const before = server.cpu()
    const figure = yield* run
    const micros = ((server.cpu() - before) / figure.units) * 1e6
    return { ...figure, more: { [databaseCpu]: micros, ...figure.more } }
  })

interface Calls {
  /** How many contacts a call adds; 0 where it gets one. */
  readonly size: number
  readonly calls: number
}

/** What processes that were asked at once did together. */
const together = (figures: ReadonlyArray<Figure>): Figure => {
  const total = (of: (figure: Figure) => number) => figures.reduce((sum, figure) => sum + of(figure), 0)
  return {
    units: total(({ units }) => units),
    seconds: Math.max(...figures.map(({ seconds }) => seconds)),
    cpuSeconds: total(({ cpuSeconds }) => cpuSeconds),
    peakMiB: Math.max(...figures.map(({ peakMiB }) => peakMiB))
  }
}

const callsVariant = <Name extends string>(
  name: Name,
  server: DatabaseServer,
  processes: ReadonlyArray<ServedStore>,
  { calls, size }: Calls
) => {
  let from = known
  return {
    name,
    fill: Effect.forEach(processes.slice(0, 1), (served) =>
      askCalls(served, { call: "add", size: 1000, calls: known / 1000, from: 0, known })
    ),
    run: Effect.suspend(() => {
      const each = calls / processes.length
      const asked = Effect.forEach(
        processes,
        (served, index) =>
          askCalls(served, {
            call: size === 0 ? "one" : "add",
            size,
            calls: each,
            known,
            from: from + index * size * each
          }),
        { concurrency: "unbounded" }
      )
      from += size * calls
      return withDatabase(server, Effect.map(asked, together))
    })
  }
}

const measureCalls = Effect.fnUntraced(function* (server: DatabaseServer, calls: Calls) {
  const place = Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(server.fresh(), server.drop)
    return { database, store: join(yield* folder, "store") }
  })
  const startScript = Effect.flatMap(place, ({ database, store }) =>
    Effect.replicateEffect(serveCalls(new URL("raw.ts", import.meta.url), store, { database }), 1)
  )
  const start = (processes: number) =>
    Effect.flatMap(place, ({ database, store }) => Effect.replicateEffect(serveRoster(store, { database }), processes))
  const variants = [
    callsVariant(script, server, yield* startScript, calls),
    callsVariant(own, server, yield* start(1), calls),
    callsVariant(two, server, yield* start(2), calls)
  ]
  for (const { fill } of variants) yield* fill
  return yield* compare(variants)
}, Effect.scoped)

type Service = Effect.Success<ReturnType<typeof serve>>

/** Runs a job of a service on a database, and asks it for other things meanwhile. */
const withProbe = (
  server: DatabaseServer,
  database: string,
  units: number,
  job: (served: Service) => Promise<void>,
  key?: string
) =>
  Effect.gen(function* () {
    const served = yield* serve(join(yield* folder, "roster"), { database, ...(key === undefined ? {} : { key }) })
    return yield* Effect.promise(async (): Promise<Figure> => {
      if (key === undefined) await prepareProbe(served)
      const before = { at: performance.now(), cpu: served.cpu(), database: server.cpu() }
      const finished = job(served).then(() => ({
        seconds: (performance.now() - before.at) / 1000,
        cpuSeconds: served.cpu() - before.cpu,
        micros: ((server.cpu() - before.database) / units) * 1e6
      }))
      const latencies = await probe(served, finished, { adds: true })
      const { micros, ...figure } = await finished
      return { units, ...figure, peakMiB: served.peakMiB(), more: { [databaseCpu]: micros, ...latencies } }
    })
  }).pipe(Effect.scoped)

const onFresh = (server: DatabaseServer, run: (database: string) => Effect.Effect<Figure>) =>
  Effect.acquireUseRelease(server.fresh(), run, server.drop)

/** Imports so many rows through a service into its database. */
const sent = (database: string, rows: number) => async (served: Service) => {
  await upload(served, csvFile(rows))
  await untilReady(database, rows)
}

/** Fills a database with so many rows and some contacts that are asked for, and gives the key to it. */
const filled = Effect.fnUntraced(function* (database: string, rows: number) {
  const served = yield* serve(join(yield* folder, "roster"), { database })
  yield* Effect.promise(() => prepareProbe(served))
  yield* Effect.promise(() => sent(database, rows)(served))
  return served.headers["x-service-apikey"] ?? ""
}, Effect.scoped)

const imported = (server: DatabaseServer, rows: number) =>
  onFresh(server, (database) => withProbe(server, database, rows, sent(database, rows)))

/** The same file once more, on what it made. */
const importedAgain = (server: DatabaseServer, rows: number) =>
  onFresh(server, (database) =>
    Effect.flatMap(filled(database, rows), (key) => withProbe(server, database, rows, sent(database, rows), key))
  )

/** The milliseconds of the last page of a store. */
const lastPage = ({ database, key, rows }: Effect.Success<ReturnType<typeof makeStore>>) =>
  Effect.gen(function* () {
    const served = yield* serve(join(yield* folder, "roster"), { database, key })
    return yield* Effect.promise(async () => {
      const times: Array<number> = []
      for (let round = 0; round < rounds; round++) {
        const before = performance.now()
        await ask(served, "GET", `/contacts?limit=100&offset=${rows - 100}`)
        times.push(performance.now() - before)
      }
      return median(times)
    })
  }).pipe(Effect.scoped)

const exported = (server: DatabaseServer, { database, key, rows }: Effect.Success<ReturnType<typeof makeStore>>) =>
  withProbe(
    server,
    database,
    rows,
    async (served) => {
      if ((await lengthOf(served, await askForExport(served, "Csv", "None"))) < rows)
        throw new Error("the file is too short")
    },
    key
  )

/** A store of so many contacts and some that are asked for, and the key to it. */
const makeStore = Effect.fnUntraced(function* (server: DatabaseServer, rows: number) {
  const database = yield* Effect.acquireRelease(server.fresh(), server.drop)
  const key = yield* filled(database, rows)
  yield* Effect.promise(() => runStatements(database, "VACUUM ANALYZE"))
  return { database, key, rows }
})

const peak = (figures: ReadonlyArray<Figure>) => median(figures.map((figure) => valueOf("memory", figure)))
const of = (figures: ReadonlyArray<Figure>, what: string) => median(figures.flatMap(({ more }) => more?.[what] ?? []))

const largest = (kind: string) => `${(4 * manyRows).toLocaleString("en-US")} ${kind}` as const

/** What both kinds of jobs are held to. */
const claimsOf = (
  kind: string,
  runs: Runs<typeof script | typeof own>,
  large: Runs,
  atLeast: number
): ReadonlyArray<Claim> => [
  claimRatio(`${kind}, rows/s of the ${script}`, runs, "rate", own, script, { atLeast }),
  {
    what: `${kind}, p99 of GETs meanwhile`,
    value: of(runs[own], "GET p99 ms"),
    target: { atMost: 50 },
    unit: "ms"
  },
  {
    what: `${kind}, p99 of adds meanwhile`,
    value: of(runs[own], "POST p99 ms"),
    target: { atMost: 100 },
    unit: "ms"
  },
  {
    what: `${kind}, peak memory with four times the rows`,
    value: peak(Object.values(large).flat()) / peak(runs[own]),
    target: { atMost: 1.1 },
    unit: "×"
  }
]

const measureImports = Effect.fnUntraced(function* (server: DatabaseServer) {
  const copied = (database: string) =>
    withDatabase(server, runTrial(new URL("copyRows.ts", import.meta.url), { database, file: csvFile(manyRows) }))
  const runs = yield* compare(
    [
      { name: script, run: onFresh(server, copied) },
      { name: own, run: imported(server, manyRows) }
    ],
    { rounds: longRounds }
  )
  const again = yield* compare(
    [
      { name: script, run: onFresh(server, (database) => Effect.andThen(copied(database), copied(database))) },
      { name: own, run: importedAgain(server, manyRows) }
    ],
    { rounds: longRounds }
  )
  const large = yield* compare([{ name: largest("rows"), run: imported(server, 4 * manyRows) }], { rounds: 1 })
  return { runs, again, large }
})

const measureExports = Effect.fnUntraced(function* (server: DatabaseServer) {
  const store = yield* makeStore(server, manyRows)
  const last = yield* lastPage(store)
  const file = join(yield* folder, "contacts.csv")
  const { database } = store
  const byCursor = runTrial(new URL("cursorRows.ts", import.meta.url), { database, file })
  const runs = yield* compare(
    [
      { name: script, run: withDatabase(server, byCursor) },
      { name: own, run: exported(server, store) }
    ],
    { rounds: longRounds }
  )
  const larger = yield* makeStore(server, 4 * manyRows)
  const large = yield* compare([{ name: largest("contacts"), run: exported(server, larger) }], { rounds: 1 })
  return { runs, last, large }
}, Effect.scoped)

const run = Effect.gen(function* () {
  const server = yield* databaseServer
  const tables: Array<Table> = []
  const claims: Array<Claim> = []
  for (const { title, atLeast, ...calls } of [
    { title: "GET one", size: 0, calls: 16_000, atLeast: 0.9 },
    { title: "POST 100", size: 100, calls: 1_000, atLeast: 0.7 },
    { title: "POST 1000", size: 1000, calls: 128, atLeast: 0.65 }
  ]) {
    const runs = yield* measureCalls(server, calls)
    tables.push({ title, unit: "call", reference: script, runs })
    claims.push(claimRatio(`${title}, calls/s of the ${script}`, runs, "rate", own, script, { atLeast }))
  }
  const imports = yield* measureImports(server)
  const exports = yield* measureExports(server)
  const rows = manyRows.toLocaleString("en-US")
  tables.push(
    { title: `Import of ${rows} rows`, unit: "row", reference: script, runs: imports.runs },
    { title: `The same ${rows} rows again`, unit: "row", reference: script, runs: imports.again },
    { title: `Export of ${rows} contacts`, unit: "row", reference: script, runs: exports.runs },
    { title: "sizes, import", unit: "row", reference: own, runs: { [own]: imports.runs[own], ...imports.large } },
    { title: "sizes, export", unit: "row", reference: own, runs: { [own]: exports.runs[own], ...exports.large } }
  )
  claims.push(
    ...claimsOf("import", imports.runs, imports.large, 0.6),
    claimRatio(`the same rows again, rows/s of the ${script}`, imports.again, "rate", own, script, { atLeast: 0.6 }),
    ...claimsOf("export", exports.runs, exports.large, 1),
    { what: `last page of ${rows}`, value: exports.last, target: { atMost: 300 }, unit: "ms" }
  )
  const notes = [
    "Load, service and database share the machine's cores, so a second process cannot show what it adds: " +
      "there is no claim for it. What to look at is the CPU of a call, of the service and of the database.",
    "An add is five round trips to the reference's two: what the key may do and who is there are looked up in its transaction. " +
      "An import checks each row, keeps who said no, counts and can be resumed; the reference checks addresses by one expression.",
    "Tried, and of no help: a larger young generation for requests; lines of an export straight from column values (2 of some " +
      "15 µs); look-ups of an import without locks (10 µs of the database a row that stays, and a second look-up of each that " +
      "changes). COPY saves the database three quarters of an insert, and the driver cannot send it (docs/upstream/sql-pg-copy.md)."
  ]
  return { tables, claims, notes }
})

/** What the service costs on PostgreSQL. */
export const postgresBenchmark: Benchmark = {
  name: "postgres",
  title: "On PostgreSQL",
  about:
    "A PostgreSQL 18 out of npm runs beside, with 512 MB of buffers, and syncs each commit. For calls, one " +
    "load process writes requests over 32 connections to a process with a pool of 10: the reference is " +
    "`node:http` with `pg`, each call one prepared statement, adds an upsert by `unnest`. An import runs " +
    "from the first byte of the upload until the job is Ready, with every row checked, counted and compared " +
    "for repeats; the reference is COPY into a table beside and one merge. Rows that change nothing are left as they are, and the " +
    "reference writes them again. An export runs until its file is " +
    "stored in the database; the reference reads by a cursor and writes a file. Meanwhile single contacts " +
    "are read and added. CPU and memory of a line are the service's; the database's CPU has a column of its " +
    "own.",
  run
}
