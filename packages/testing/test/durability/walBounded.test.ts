/**
 * S68 Readers that take long do not make the WAL grow: neither the making of an export nor its download holds a snapshot
 * while others write.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { once } from "node:events"
import { statSync } from "node:fs"
import { request } from "node:http"
import type { IncomingMessage } from "node:http"
import { askServe, killableServe, type KillableServe, type ServePlace, servePlace } from "./KillableServe.ts"
import { amount, longRun } from "../../src/simulation/LongRun.ts"
import { assertWhole, endOf, jobsIn, writeTo } from "./StoreLook.ts"

const mebibyte = 1024 * 1024
const bound = 64 * mebibyte

/** Of large contacts, so that few rows are an export of more than the bound. */
const rows = amount({ ci: 2200, long: 20_000 })
const noteBytes = 31 * 1024

const Link = Schema.fromJsonString(Schema.Struct({ Link: Schema.String }))

const fill = (place: ServePlace) =>
  writeTo(
    place,
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${rows})
     INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
     SELECT '', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active',
       json_object('note', hex(zeroblob(${noteBytes / 2}))), 'ContactApi', 1700000000 FROM n`
  )

/** The length of the WAL, of which nothing is given back before all of it is in the file. */
const walOf = ({ filename }: ServePlace): number => statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0

/** Adds some contacts and changes them with each call: at least so many bytes reach the WAL. */
const write = (serve: KillableServe, version: number) =>
  Effect.gen(function* () {
    const contacts = Array.from({ length: 25 }, (_, index) => ({
      Email: `w${index}@example.com`,
      CustomFields: { note: String(version).repeat(noteBytes).slice(0, noteBytes) }
    }))
    const answer = yield* askServe(serve, "POST", "/contacts", contacts)
    assert.strictEqual(answer.status, 200, answer.text.slice(0, 200))
    return contacts.length * noteBytes
  })

const askForExport = Effect.fnUntraced(function* (serve: KillableServe) {
  const answer = yield* askServe(serve, "POST", "/contacts/export?fileFormat=Json")
  assert.strictEqual(answer.status, 202, answer.text)
  return (yield* Schema.decodeEffect(Link)(answer.text)).Link
})

/** A store of large contacts that is served, its WAL in the file. */
const served = Effect.gen(function* () {
  const place = yield* servePlace
  const serve = yield* killableServe(place)
  fill(place)
  writeTo(place, "PRAGMA wal_checkpoint(TRUNCATE)")
  assert.strictEqual(walOf(place), 0)
  return { place, serve }
})

/** The answer to a GET, of which nothing is read that nobody asks for. */
const open = (link: string) =>
  Effect.acquireRelease(
    Effect.callback<IncomingMessage>((resume) => {
      request(link, (answer) => resume(Effect.succeed(answer))).end()
    }),
    (answer) => Effect.sync(() => answer.destroy())
  )

describe("S.5 long readers", () => {
  it.live(
    "S68 an export of more than 64 MB is made while others write, and the WAL stays below",
    () =>
      Effect.gen(function* () {
        const { place, serve } = yield* served
        let [written, highest, version] = [0, 0, 0]
        const link = yield* askForExport(serve)
        while (jobsIn(place)[0]?.state === "Loading") {
          written += yield* write(serve, version++)
          highest = Math.max(highest, walOf(place))
        }
        const size = Number((yield* open(link)).headers["content-length"])
        assert.isAbove(size, bound)
        assert.isAbove(version, 1)
        assert.isBelow(highest, bound)
        process.stdout.write(
          `S68: an export of ${size >> 20} MiB, ${written >> 20} MiB written meanwhile: WAL ${highest >> 20} MiB\n`
        )
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 30 * 60_000 : 90_000
  )

  it.live.skipIf(!longRun)(
    "S68 a download that takes as long as others write keeps the WAL below 64 MB, and is whole (nightly)",
    () =>
      Effect.gen(function* () {
        const { place, serve } = yield* served
        const link = yield* askForExport(serve)
        yield* endOf(place)
        const answer = yield* open(link)
        const size = Number(answer.headers["content-length"])
        let [read, written, highest, version] = [0, 0, 0, 0]
        /** Reads as much as there is, up to so many bytes. */
        const drip = (bytes: number) => {
          for (let left = bytes; left > 0;) {
            const chunk: unknown = answer.read()
            if (!(chunk instanceof Buffer)) return
            read += chunk.length
            left -= chunk.length
          }
        }
        const goal = amount({ ci: 1.1, long: 20 }) * bound
        while (written < goal) {
          drip(16 * 1024)
          written += yield* write(serve, version++)
          highest = Math.max(highest, walOf(place))
        }
        assert.isBelow(read, size)
        assert.isBelow(highest, bound)
        process.stdout.write(
          `S68: ${read >> 10} KiB read, ${written >> 20} MiB written meanwhile: WAL ${highest >> 20} MiB\n`
        )
        answer.on("data", (chunk: Buffer) => (read += chunk.length))
        yield* Effect.promise(() => once(answer, "end"))
        assert.strictEqual(read, size)
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 30 * 60_000 : 90_000
  )
})
