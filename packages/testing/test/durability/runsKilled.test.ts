/**
 * S58, S56 What a run recorded is what the store shows, wherever its process was killed: no write without its record, and no
 * record without its write.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { RunRecord } from "@roster/domain"
import { ChangeContent, ContactStates } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { assertImported, importFile, SeenRejection } from "./ImportedFile.ts"
import { askServe, type KillableServe, killableServe, type ServePlace, servePlace } from "./KillableServe.ts"
import { makeWriter, settle, writeUntilGone } from "./MixedWrites.ts"
import { assertWhole, contactsIn, countOf, endOf, jobsIn, rowsOf, seen } from "./StoreLook.ts"

const kills = amount({ ci: 3, long: 100 })
const writers = 6
const timeout = longRun ? 60 * 60_000 : 60_000

const begin = Effect.fnUntraced(function* (serve: KillableServe) {
  const { text } = yield* askServe(serve, "POST", "/runs", { Command: "import" })
  return (yield* Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ Id: Schema.String })))(text)).Id
})

const SeenRow = Schema.Struct({
  number: Schema.Int,
  content: Schema.fromJsonString(Schema.Array(ChangeContent))
})
const SeenLists = Schema.Struct({ email: Schema.String, name: Schema.String })
const SeenCounts = Schema.Struct({
  changes: Schema.Int,
  created: Schema.Int,
  changed: Schema.Int,
  deleted: Schema.Int
})
const readFields = Schema.decodeSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** The digests of all contacts, made of their rows. */
const digestsIn = (place: ServePlace) => {
  const lists = Map.groupBy(
    rowsOf(
      place,
      SeenLists,
      `SELECT email, name FROM list_members JOIN lists ON lists.id = list_id JOIN contacts ON contacts.id = contact_id`
    ),
    ({ email }) => email
  )
  return contactsIn(place).map(({ custom_fields, email, first_name, last_name, status }) => {
    const state: Record<string, string> = { Email: email, Status: status }
    if (first_name !== null) state["FirstName"] = first_name
    if (last_name !== null) state["LastName"] = last_name
    for (const [name, value] of Object.entries(readFields(custom_fields))) state[`CustomFields.${name}`] = value
    for (const { name } of lists.get(email) ?? []) state[`Lists.${name}`] = ""
    return `${email} ${ContactStates.digestOf(state)}`
  })
}

/** Fails unless the only run of a store recorded all that made its contacts what they are, and nothing else. */
const assertRecorded = (place: ServePlace) => {
  const digests = new Map<string, string>()
  const counts = { changes: 0, created: 0, changed: 0, deleted: 0 }
  for (const { content, number } of rowsOf(place, SeenRow, "SELECT number, content FROM run_changes ORDER BY number")) {
    for (const { after, effect, email } of content) {
      const address = email ?? ""
      // Each follows from what the changes before it left.
      assert.strictEqual(digests.has(address), effect !== "Created", `${effect} ${address}`)
      if (after === null) digests.delete(address)
      else digests.set(address, after)
      counts.changes++
      if (effect === "Created") counts.created++
      else if (effect === "Changed") counts.changed++
      else counts.deleted++
    }
    assert.strictEqual(number, counts.changes)
  }
  assert.deepStrictEqual([...digests].map((one) => one.join(" ")).sort(), digestsIn(place).sort())
  assert.deepStrictEqual(rowsOf(place, SeenCounts, "SELECT changes, created, changed, deleted FROM runs"), [counts])
  assertWhole(place)
  return counts
}

describe("S.5 kill -9 under the writes of a run", () => {
  it.live(
    `S58 after each of ${kills} kills the run has recorded each write that was made, and no other one`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S58 in a run"))
        const place = yield* servePlace
        const run = yield* Effect.flatMap(killableServe(place), (serve) =>
          Effect.tap(begin(serve), () => serve.stop)
        ).pipe(Effect.scoped)
        const all = Array.from({ length: writers }, (_, index) => makeWriter(`w${index}`, run))
        for (let kill = 0; kill < kills; kill++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const serve = yield* killableServe(place)
              let left = 1 + Math.floor(random() * 300)
              // Of what is sent and what is answered, so that it dies in the midst of the others.
              const count = () => {
                if (--left === 0) serve.killNow()
              }
              yield* Effect.forEach(
                all,
                (writer) => writeUntilGone(serve, writer, random, { sent: count, acknowledged: count }),
                { concurrency: "unbounded", discard: true }
              )
              yield* serve.ended
            })
          )
          for (const writer of all) assert.isUndefined(settle(place, writer))
          assertRecorded(place)
        }
        const serve = yield* killableServe(place)
        const { changed, changes, created, deleted } = assertRecorded(place)
        const answer = yield* askServe(serve, "GET", `/runs/${run}`)
        const told = yield* Schema.decodeEffect(Schema.fromJsonString(RunRecord))(answer.text)
        assert.deepInclude({ ...told }, { id: run, changes, created, changed, deleted, ended: null })
        assert.isAbove(changes, 0)
        yield* serve.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )

  it.live(
    "S56 an import of a run whose process dies goes on in its run, which records each row once",
    () =>
      Effect.gen(function* () {
        const place = yield* servePlace
        // With notes of this length a transaction is of some 2000 rows.
        const file = importFile(amount({ ci: 7_000, long: 100_000 }), 2000)
        const first = yield* killableServe(place)
        const run = yield* begin(first)
        const form = new FormData()
        form.append("file", new Blob([file.text], { type: "text/csv" }), "people.csv")
        const answer = yield* askServe(first, "POST", "/contacts/import", form, undefined, run)
        assert.strictEqual(answer.status, 202, answer.text)
        yield* seen(
          () => jobsIn(place)[0]?.rows_done ?? 0,
          (done) => done >= 2000,
          "5 millis"
        )
        first.killNow()
        yield* first.ended
        assert.strictEqual(jobsIn(place)[0]?.state, "Loading")
        assert.isAbove(assertRecorded(place).created, 0)
        const next = yield* killableServe(place)
        yield* endOf(place)
        assert.strictEqual(assertRecorded(place).created, file.good.length)
        assertImported(file, {
          jobs: jobsIn(place),
          contacts: contactsIn(place),
          rejections: rowsOf(place, SeenRejection, "SELECT line, reason FROM job_rejections ORDER BY line"),
          parts: countOf(place, "job_parts")
        })
        yield* next.stop
      }).pipe(Effect.provide(NodeServices.layer)),
    timeout
  )
})
