/**
 * An export is of one moment, whatever is added, changed and deleted while it runs: another process rewrites all contacts
 * again and again, each time in one transaction, and every file has to be one of the states between two of them.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { csvRecordsOf, jsonRecordsOf, textOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { askServe, download, killableServe, servePlace } from "./KillableServe.ts"
import { amount, longRun } from "../../src/simulation/LongRun.ts"
import { jobsIn, writeTo } from "./StoreLook.ts"

const rows = amount({ ci: 1500, long: 50_000 })
const exports = amount({ ci: 4, long: 40 })
/** So many contacts go and as many come with each moment. */
const turnover = 50

const Link = Schema.fromJsonString(Schema.Struct({ Link: Schema.String }))

/** Custom fields of a moment, alike in no two contacts: to find their names takes a while, in which others can write. */
const fieldsOf = (moment: number) => `json_object('of${moment}', 'x', 'note', hex(randomblob(400)))`

/** The contacts of the first moment, of which each names its moment, in a field that no other moment has as well. */
const first = `
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${rows})
  INSERT INTO contacts (account, identity, email, status, first_name, custom_fields, source, date_added)
  SELECT '', 'p' || i || '@example.com', 'p' || i || '@example.com', 'Active', 'm0', ${fieldsOf(0)}, 'ContactApi', 1700000000
  FROM n`

const next = (moment: number) => `
  BEGIN IMMEDIATE;
  DELETE FROM contacts WHERE id IN (SELECT id FROM contacts ORDER BY id LIMIT ${turnover / 2});
  DELETE FROM contacts WHERE id IN (SELECT id FROM contacts ORDER BY id DESC LIMIT ${turnover / 2});
  UPDATE contacts SET first_name = 'm${moment}', custom_fields = ${fieldsOf(moment)};
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${turnover})
  INSERT INTO contacts (account, identity, email, status, first_name, custom_fields, source, date_added)
  SELECT '', 'p' || i || '@m${moment}.example', 'p' || i || '@m${moment}.example', 'Active', 'm${moment}',
    ${fieldsOf(moment)}, 'ContactApi', 1700000000 FROM n;
  COMMIT`

/** What a row says of its moment: its name, and the custom fields that hold something. */
const momentsOf = (format: string, bytes: Uint8Array) =>
  format === "Csv"
    ? csvRecordsOf(textOf(bytes)).map((record) => ({
        email: record.get("Email"),
        moment: record.get("FirstName"),
        fields: [...record.keys()].filter((name) => name.startsWith("of"))
      }))
    : jsonRecordsOf(textOf(bytes)).map((record) => ({
        email: record["Email"],
        moment: record["FirstName"],
        fields: Object.keys(record["CustomFields"] ?? {}).filter((name) => name.startsWith("of"))
      }))

describe("S.5 an export while others write", () => {
  it.live.each(["Csv", "Json"])(
    "as %s is of one moment, with every contact and every custom field of it",
    (format) =>
      Effect.gen(function* () {
        const place = yield* servePlace
        const serve = yield* killableServe(place)
        writeTo(place, first)
        // The addresses of each moment, in the order in which they were added.
        const emails = [Array.from({ length: rows }, (_, i) => `p${i}@example.com`)]
        const advance = Effect.suspend(() => {
          const moment = emails.length
          writeTo(place, next(moment))
          const left = emails.at(-1)?.slice(turnover / 2, -turnover / 2) ?? []
          emails.push([...left, ...Array.from({ length: turnover }, (_, i) => `p${i}@m${moment}.example`)])
          return Effect.yieldNow
        })
        let during = 0
        for (let index = 0; index < exports; index++) {
          const answer = yield* askServe(serve, "POST", `/contacts/export?fileFormat=${format}`)
          assert.strictEqual(answer.status, 202, answer.text)
          const { Link: link } = yield* Schema.decodeEffect(Link)(answer.text)
          while (jobsIn(place)[index]?.state === "Loading") {
            yield* advance
            during++
          }
          const records = momentsOf(format, yield* download(link))
          const moment = Number(/^m(\d+)$/.exec(String(records[0]?.moment))?.[1])
          assert.deepStrictEqual(
            records,
            (emails[moment] ?? []).map((email) => ({ email, moment: `m${moment}`, fields: [`of${moment}`] }))
          )
        }
        assert.isAbove(during, exports)
        process.stdout.write(`${exports} exports as ${format}, ${during} moments while they ran, 0 torn\n`)
        yield* serve.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 30 * 60_000 : 60_000
  )
})
