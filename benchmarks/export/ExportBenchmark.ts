import { Effect } from "effect"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Benchmark, type Claim, claimRatio } from "../src/Benchmark.ts"
import { compare, median, valueOf } from "../src/Comparison.ts"
import { folder } from "../src/Files.ts"
import { prepareProbe, probe } from "../src/Probe.ts"
import { wirePayload } from "../src/Records.ts"
import { serve } from "../src/Served.ts"
import { askForExport, lengthOf } from "../src/ServedJobs.ts"
import { manyRows } from "../src/Settings.ts"
import type { Figure } from "../src/Trial.ts"
import { trial } from "../src/Variant.ts"

/** A store of so many contacts, and the key to it. */
const makeStore = (contacts: number) =>
  Effect.gen(function* () {
    const filename = join(yield* folder, "roster.db")
    const key = yield* Effect.scoped(
      Effect.gen(function* () {
        const served = yield* serve(filename)
        yield* Effect.promise(() => prepareProbe(served))
        return served.headers["x-service-apikey"] ?? ""
      })
    )
    const store = new DatabaseSync(filename)
    store.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN")
    const insert = store.prepare(`
      INSERT INTO contacts (account, identity, email, status, first_name, last_name, custom_fields, source, date_added)
      VALUES ('', ?, ?, 'Active', ?, ?, ?, 'FileUpload', 1750000000)`)
    for (let index = 0; index < contacts; index++) {
      const { CustomFields, Email, FirstName, LastName } = wirePayload(index)
      insert.run(Email.toLowerCase(), Email, FirstName, LastName, JSON.stringify(CustomFields))
    }
    store.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    const { count } = store.prepare("SELECT count(*) AS count FROM contacts").get() ?? {}
    store.close()
    return { filename, key, count: Number(count) }
  })

type Store = Effect.Success<ReturnType<typeof makeStore>>

const exported = ({ count, filename: template, key }: Store, format: string, compression: string) =>
  Effect.gen(function* () {
    const filename = join(yield* folder, "roster.db")
    copyFileSync(template, filename)
    const served = yield* serve(filename, { key })
    return yield* Effect.promise(async (): Promise<Figure> => {
      const before = { at: performance.now(), cpu: served.cpu() }
      const finished = askForExport(served, format, compression).then((link) => ({
        link,
        seconds: (performance.now() - before.at) / 1000,
        cpuSeconds: served.cpu() - before.cpu
      }))
      const latencies = await probe(served, finished, { adds: true })
      const { cpuSeconds, link, seconds } = await finished
      if ((await lengthOf(served, link)) < count) throw new Error("the file is too short")
      return { units: count, seconds, cpuSeconds, peakMiB: served.peakMiB(), more: latencies }
    })
  }).pipe(Effect.scoped)

const run = Effect.gen(function* () {
  const store = yield* makeStore(manyRows)
  const loop = (compression: string) =>
    trial("", new URL("plainLoop.ts", import.meta.url), { store: store.filename, compression })
  const plain = yield* compare([
    { ...loop("None"), name: "prepared SELECT and join" as const },
    { name: "export as Csv" as const, run: exported(store, "Csv", "None") }
  ])
  const zipped = yield* compare([
    { ...loop("Zip"), name: "prepared SELECT, join and zlib" as const },
    { name: "export as Csv, Zip" as const, run: exported(store, "Csv", "Zip") }
  ])
  const larger = yield* makeStore(4 * manyRows)
  const large = yield* compare([{ name: "4,000,000 contacts, Csv" as const, run: exported(larger, "Csv", "None") }], {
    rounds: 1
  })
  const peak = (figures: ReadonlyArray<Figure>) => median(figures.map((figure) => valueOf("memory", figure)))
  const claims: ReadonlyArray<Claim> = [
    claimRatio("rows/s of a prepared SELECT and join", plain, "rate", "export as Csv", "prepared SELECT and join", {
      atLeast: 0.6
    }),
    claimRatio("the same, zipped", zipped, "rate", "export as Csv, Zip", "prepared SELECT, join and zlib", {
      atLeast: 0.6
    }),
    { what: "peak memory, 1,000,000", value: peak(plain["export as Csv"]), target: { atMost: 350 }, unit: "MiB" },
    {
      what: "peak memory, 1,000,000 → 4,000,000",
      value: peak(large["4,000,000 contacts, Csv"]) / peak(plain["export as Csv"]),
      target: { atMost: 1.1 },
      unit: "×"
    }
  ]
  const sizes = { "1,000,000 contacts, Csv": plain["export as Csv"], ...large }
  return {
    tables: [
      { title: "1,000,000 contacts, Csv", unit: "row", reference: "prepared SELECT and join", runs: plain },
      { title: "the same, Zip", unit: "row", reference: "prepared SELECT, join and zlib", runs: zipped },
      { title: "sizes", unit: "row", reference: "1,000,000 contacts, Csv", runs: sizes }
    ],
    claims,
    notes: [
      "An export writes its rows twice, the reference once: first to a spool, so that the snapshot is closed " +
        "early and the WAL stays short, then as synced parts of the file into the store. Of some 3 µs of CPU " +
        "per row, half is iterating the rows, as in the reference; the rest is formatting and garbage " +
        "collection.",
      "Why four times the contacts take more memory was not found: several exports of 1,000,000 in one " +
        "process stay at the level of the first, and the caches have a fixed size."
    ]
  }
})

/** What an export costs, and what it costs others meanwhile. */
export const exportBenchmark: Benchmark = {
  name: "export",
  title: "Exporting all contacts",
  about:
    "`roster serve` exports all contacts of a store as Csv with every column, plain and zipped: from the " +
    "request until the status is Ready and the whole file is synced in the store. Meanwhile single contacts " +
    "are read and added, with their latencies in the table. The reference iterates a prepared statement over " +
    "the same store in one snapshot, queries the names of the custom fields, joins and escapes the cells, " +
    "and writes a file without syncing it. The 4,000,000 contacts are one round.",
  run
}
