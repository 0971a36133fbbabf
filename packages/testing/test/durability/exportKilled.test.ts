/**
 * S58 An export survives the death of its process: it is begun anew, and nothing of the earlier tries is left in it.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { askServe, download, killableServe, type KillableServe, servePlace } from "./KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { assertWhole, contactsIn, countOf, endOf, jobsIn, seen, writeTo } from "./StoreLook.ts"

const rows = amount({ ci: 12_000, long: 100_000 })
const kills = amount({ ci: 2, long: 20 })

/** How large the parts of a file are, at most: as CSV the 500 rows that are read at once are one piece of it. */
const partBytes = 512 * 1024

const Link = Schema.fromJsonString(Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String }))

const askForExport = Effect.fnUntraced(function* (serve: KillableServe, query: string) {
  const answer = yield* askServe(serve, "POST", `/contacts/export?${query}`)
  assert.strictEqual(answer.status, 202, answer.text)
  return yield* Schema.decodeEffect(Link)(answer.text)
})

const isReady = (serve: KillableServe, id: string) =>
  Effect.map(askServe(serve, "GET", `/contacts/export/${id}/status`), ({ text }) => text.includes("Ready"))

/** The bytes of an export, whatever port its service listens on by now. */
const bytesOf = (serve: KillableServe, link: string) =>
  download(`${new URL(serve.baseUrl).origin}${new URL(link).pathname}`)

const Exported = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      Email: Schema.String,
      FirstName: Schema.String,
      CustomFields: Schema.Struct({ note: Schema.String })
    })
  )
)

describe("S.5 an export whose process dies", () => {
  it.live.each(["Json", "Csv"])(
    `S58 killed at ${kills} random points, an export as %s ends Ready and holds the contacts as they are`,
    (format) =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed(`S58 ${format}`))
        const place = yield* servePlace
        let serve = yield* killableServe(place)
        // Long enough to be many parts.
        writeTo(
          place,
          `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${rows})
           INSERT INTO contacts (account, identity, email, status, first_name, custom_fields, source, date_added)
           SELECT (SELECT account FROM credentials LIMIT 1), 'p' || i || '@example.com', 'p' || i || '@example.com',
             'Active', 'First ' || i, json_object('note', hex(zeroblob(200)) || i), 'ContactApi', 1700000000 FROM n`
        )
        const { Link: link, PublicExportID: id } = yield* askForExport(serve, `fileFormat=${format}`)
        const parts = Math.floor((rows * 400) / partBytes)
        let killed = 0
        for (let kill = 0; kill < kills; kill++) {
          // Further each time: it is given up when it is killed three times without getting further.
          const point = 1 + Math.floor((0.7 * parts * (kill + random())) / kills)
          // It can be done before it is seen to have come so far.
          yield* seen(
            () => jobsIn(place)[0]?.state !== "Loading" || countOf(place, "job_parts") >= point,
            (isThere) => isThere
          )
          serve.killNow()
          yield* serve.ended
          const [job] = jobsIn(place)
          // A later try can be done before it is looked at.
          if (job?.state !== "Loading") {
            serve = yield* killableServe(place)
            break
          }
          killed++
          // A later one can be killed before it removed what the last one left, or after.
          if (kill === 0) assert.isAtLeast(countOf(place, "job_parts"), point)
          // Fewer contacts than before: what is left of the last try would show behind them.
          writeTo(place, `DELETE FROM contacts WHERE id % ${kills * 3} = ${kill}`)
          serve = yield* killableServe(place)
          yield* seen(
            () => jobsIn(place)[0]?.lease,
            (lease) => lease !== job.lease
          )
        }
        assert.isAbove(killed, 0)
        process.stdout.write(`S58: an export as ${format} was killed ${killed} times\n`)
        yield* endOf(place)
        assert.isTrue(yield* isReady(serve, id))
        const bytes = yield* bytesOf(serve, link)
        const contacts = contactsIn(place)
        assert.isBelow(contacts.length, rows)
        if (format === "Json") {
          const exported = yield* Schema.decodeEffect(Exported)(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
          assert.deepStrictEqual(
            exported.map(({ CustomFields, Email, FirstName }) => [Email, FirstName, JSON.stringify(CustomFields)]),
            contacts.map(({ custom_fields, email, first_name }) => [email, first_name, custom_fields])
          )
        }
        const undisturbed = yield* askForExport(serve, `fileFormat=${format}`)
        yield* endOf(place, 1)
        assert.isTrue(yield* isReady(serve, undisturbed.PublicExportID))
        assert.isTrue(Buffer.from(yield* bytesOf(serve, undisturbed.Link)).equals(bytes))
        const [first, second] = jobsIn(place)
        assert.strictEqual(first?.accepted, contacts.length)
        assert.strictEqual(countOf(place, "job_parts WHERE job = 1"), countOf(place, "job_parts WHERE job = 2"))
        assert.deepStrictEqual([first?.state, second?.state], ["Ready", "Ready"])
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 30 * 60_000 : 120_000
  )
})
