/**
 * S71 A list of everything, of a store that is larger than the memory of the service: a page of bounded size.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { askServe, killableServe, servePlace } from "../durability/KillableServe.ts"
import { amount, longRun } from "../../src/simulation/LongRun.ts"
import { writeTo } from "../durability/StoreLook.ts"

const rows = amount({ ci: 50_000, long: 1_000_000 })

const Emails = Schema.fromJsonString(Schema.Array(Schema.Struct({ Email: Schema.String })))

/** The most memory that a process had, in MiB. */
const peakOf = (pid: number) =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

describe("lists of large stores", () => {
  it.live.skipIf(process.platform !== "linux")(
    `S71 of ${rows} contacts a list without a limit is a page of 20, the largest is 1000, and memory stays bounded`,
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place, { heap: 96 })
        writeTo(
          place,
          `INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
           WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${rows})
           SELECT '', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active',
             '{"note":"' || printf('%0400d', i) || '"}', 'ContactApi', 1 FROM n`
        )
        const page = Effect.fnUntraced(function* (query: string) {
          const { status, text } = yield* askServe(serve, "GET", `/contacts${query}`)
          assert.strictEqual(status, 200, text.slice(0, 200))
          return (yield* Schema.decodeEffect(Emails)(text)).map(({ Email }) => Email)
        })
        const expected = (from: number, count: number) =>
          Array.from({ length: count }, (_, index) => `p${from + index}@example.com`)
        assert.deepStrictEqual(yield* page(""), expected(0, 20))
        assert.strictEqual((yield* askServe(serve, "GET", "/contacts?limit=1001")).status, 400)
        // The first pages also load code and fill caches.
        yield* page("?limit=1000")
        yield* page(`?limit=1000&offset=${rows / 2}`)
        const before = peakOf(serve.pid)
        const offsets = Array.from({ length: 24 }, (_, index) => Math.floor((index / 24) * (rows - 1000)))
        yield* Effect.forEach(
          offsets,
          (offset) =>
            Effect.map(page(`?limit=1000&offset=${offset}`), (emails) =>
              assert.deepStrictEqual(emails, expected(offset, 1000))
            ),
          { concurrency: 8 }
        )
        assert.deepStrictEqual(yield* page(`?limit=1000&offset=${rows - 5}`), expected(rows - 5, 5))
        const grown = peakOf(serve.pid) - before
        process.stdout.write(`S71: ${rows} contacts, memory grew by ${Math.round(grown)} MiB\n`)
        assert.isBelow(grown, 64)
        yield* serve.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 10 * 60_000 : 60_000
  )
})
