import { Effect } from "effect"
import { join } from "node:path"
import { databaseServer, run as runStatements, untilReady } from "../postgres/Server.ts"
import type { Benchmark, Claim } from "../src/Benchmark.ts"
import { median } from "../src/Comparison.ts"
import { folder } from "../src/Files.ts"
import { csvFile, person, wirePayload } from "../src/Records.ts"
import { ask, serve, type Served } from "../src/Served.ts"
import { askForExport, importFile, upload } from "../src/ServedJobs.ts"
import { manyRows } from "../src/Settings.ts"

/** Calls of each kind, one after another: enough for a median. */
const calls = 200
const pages = 20

/** What a store of one size costs: calls in milliseconds, jobs in microseconds a contact. */
interface Costs {
  readonly "import, µs a row": number
  readonly "GET one, ms": number
  readonly "add one, ms": number
  readonly "merge one, ms": number
  readonly "first page of 1000, ms": number
  readonly "last page of 1000, ms": number
  readonly "rule that selects 10, ms": number
  readonly "export, µs a contact": number
}

const timed = async (call: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await call()
  return performance.now() - start
}

const repeated = async (times: number, call: (index: number) => Promise<unknown>): Promise<number> => {
  const found: Array<number> = []
  for (let index = 0; index < times; index++) found.push(await timed(() => call(index)))
  return median(found)
}

const measure = async (served: Served, size: number, imported: () => Promise<void>): Promise<Costs> => {
  const importing = await timed(imported)
  const everywhere = (index: number) => person((index * 7919) % size).email
  const post = (contact: object) => ask(served, "POST", "/contacts", JSON.stringify([contact]))
  const page = (offset: number, rule = "") =>
    ask(served, "GET", `/contacts?limit=1000&offset=${offset}${rule === "" ? "" : `&rule=${encodeURIComponent(rule)}`}`)
  // The contacts of a warm process, as all others.
  await repeated(calls, (index) => ask(served, "GET", `/contacts/${encodeURIComponent(everywhere(index))}`))
  const some = Array.from({ length: 10 }, (_, index) => `email contains ${JSON.stringify(everywhere(index))}`).join(
    " OR "
  )
  return {
    "import, µs a row": (importing * 1000) / size,
    "GET one, ms": await repeated(calls, (index) =>
      ask(served, "GET", `/contacts/${encodeURIComponent(everywhere(index))}`)
    ),
    "add one, ms": await repeated(calls, (index) => post(wirePayload(50_000_000 + index))),
    "merge one, ms": await repeated(calls, (index) =>
      post({ Email: everywhere(index), CustomFields: { turn: `${index}` } })
    ),
    "first page of 1000, ms": await repeated(pages, () => page(0)),
    "last page of 1000, ms": await repeated(pages, () => page(Math.max(0, size - 1000))),
    "rule that selects 10, ms": await repeated(3, () => page(0, some)),
    "export, µs a contact": ((await timed(() => askForExport(served, "Csv", "None"))) * 1000) / size
  }
}

const run = Effect.gen(function* () {
  const server = yield* databaseServer
  const sizes = [1000, 10_000, 100_000, 1_000_000].filter((size) => size <= manyRows)
  for (const size of sizes) csvFile(size)
  const onFile = (size: number) =>
    Effect.gen(function* () {
      const served = yield* serve(join(yield* folder, "roster.db"))
      return yield* Effect.promise(() => measure(served, size, () => importFile(served, size)))
    }).pipe(Effect.scoped)
  const onPostgres = (size: number) =>
    Effect.gen(function* () {
      const database = yield* Effect.acquireRelease(server.fresh(), server.drop)
      const served = yield* serve(join(yield* folder, "roster"), { database })
      const imported = async () => {
        await upload(served, csvFile(size))
        await untilReady(database, size)
      }
      return yield* Effect.promise(() =>
        measure(served, size, async () => {
          await imported()
          await runStatements(database, "ANALYZE contacts")
        })
      )
    }).pipe(Effect.scoped)
  const grids: Array<{ head: ReadonlyArray<string>; rows: ReadonlyArray<ReadonlyArray<string>> }> = []
  const claims: Array<Claim> = []
  for (const [engine, of] of [
    ["SQLite", onFile],
    ["PostgreSQL", onPostgres]
  ] as const) {
    const costs: Array<Costs> = []
    for (const size of sizes) costs.push(yield* of(size))
    const [first, last] = [costs[0], costs.at(-1)]
    if (first === undefined || last === undefined) continue
    // Every cost has the same names.
    const names = Object.keys(first) as ReadonlyArray<keyof Costs>
    grids.push({
      head: [engine, ...sizes.map((size) => `${size.toLocaleString("en-US")} contacts`)],
      rows: names.map((name) => [name, ...costs.map((cost) => cost[name].toPrecision(3))])
    })
    for (const name of ["GET one, ms", "add one, ms", "merge one, ms"] as const) {
      claims.push({
        what: `${engine}, ${name}, from the smallest to the largest`,
        value: last[name] / first[name],
        target: { atMost: 1.5 },
        unit: "×"
      })
    }
  }
  return { tables: [], grids, claims }
})

/** How costs grow with the contacts of a store. */
export const growthBenchmark: Benchmark = {
  name: "growth",
  title: "Growth from a thousand to a million contacts",
  about:
    "`roster serve` on SQLite and on PostgreSQL, beside which nothing else asks: a file of that many " +
    "contacts is imported into an empty store; then single calls are made one after another, of which the " +
    "median is given, and all is exported. Contacts are taken from everywhere in the store. The rule names " +
    "parts of ten addresses, which no index serves.",
  run
}
