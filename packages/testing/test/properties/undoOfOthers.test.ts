/** An undo of what a run added, where others did something since: what they wrote stays, and nothing else of the run. */
import { assert, describe, it, layer } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { importContacts, previewUndo, RunLog, undoRun } from "@roster/workflows"
import { Arbitrary, Effect, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { withRuns } from "../../src/layers/ServiceLayers.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"

const ada = { email: EmailAddress.make("ada@example.com") }

const Text = Schema.Literals(["x", "y"])
const Status = Schema.Literals(["Active", "Engaged", "Unsubscribed", "Bounced", "NotConfirmed"])
const Name = Schema.Literals(["News", "Old"])

const Added = Schema.Struct({
  firstName: Schema.optionalKey(Text),
  lastName: Schema.optionalKey(Text),
  customFields: Schema.Struct({ Land: Schema.optionalKey(Text), city: Schema.optionalKey(Text) }),
  consent: Schema.optionalKey(Schema.Struct({ ip: Schema.Literals(["192.0.2.1", "192.0.2.2"]) })),
  status: Schema.optionalKey(Status)
})

const Written = Schema.Struct({
  firstName: Schema.optionalKey(Schema.NullOr(Text)),
  lastName: Schema.optionalKey(Schema.NullOr(Text)),
  customFields: Schema.Struct({
    land: Schema.optionalKey(Schema.NullOr(Text)),
    city: Schema.optionalKey(Schema.NullOr(Text))
  }),
  consent: Schema.optionalKey(Schema.Struct({ ip: Schema.Literals(["192.0.2.1", "192.0.2.2"]) })),
  status: Schema.optionalKey(Status),
  addToLists: Schema.Array(Name).check(Schema.isMaxLength(2)),
  removeFromLists: Schema.Array(Schema.Literals(["news"])).check(Schema.isMaxLength(1))
})

/** What a reader sees of Ada by the names of fields; `undefined` if she is not there. */
const seen = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const [answer] = yield* contacts.change([{ ...ada, seen: { firstName: "none such" }, write: {} }], { dryRun: true })
  if (answer?._tag !== "Outdated") return assert.fail(`${answer?._tag}`)
  const { contact, lists = [] } = answer
  if (!contact) return undefined
  const { consent, customFields = {}, firstName, lastName, status } = contact
  const fields = new Map<string, string | undefined>([
    ["status", status],
    ["first", firstName],
    ["last", lastName],
    ["ip", consent?.ip ?? undefined],
    ...Object.entries(customFields).map(([name, value]) => [name.toLowerCase(), value] as const),
    ...lists.map((name) => [`list ${name.toLowerCase()}`, "on it"] as const)
  ])
  return new Map(Array.from(fields).flatMap(([name, value]) => (value ? [[name, value] as const] : [])))
})
type Seen = Effect.Success<typeof seen>

const stopsMail = new Set(["Unsubscribed", "Bounced", "NotConfirmed", "Abuse"])

/** What stays of what is there now: all that others wrote. Whom nobody but the run gave mail gets none. */
const stays = (byRun: Seen, now: Seen): Seen =>
  now &&
  new Map(
    Array.from(now).flatMap(([name, value]): ReadonlyArray<[string, string]> => {
      if (byRun?.get(name) !== value) return [[name, value]]
      return name === "status" ? [[name, stopsMail.has(value) ? value : "NotConfirmed"]] : []
    })
  )

const inOrder = (fields: Seen) => fields && [...fields].toSorted(([one], [other]) => (one < other ? -1 : 1))

for (const [log, services] of [
  ["the record of the service", withRuns(layerMemory())],
  ["the log of a program", Layer.merge(layerMemory(), RunLog.layerMemory())]
] as const) {
  layer(services, { excludeTestServices: true })(`an undo by ${log}, of what others changed`, (it) => {
    it.effect.prop(
      "leaves of a contact that the run added what others wrote, and the undo of that brings back the rest",
      [Arbitrary.schema(Added), Arbitrary.schema(Written)],
      ([added, written]) =>
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          yield* Effect.ignore(contacts.delete(ada.email))
          const { run: id = "" } = yield* importContacts(Stream.make({ ...ada, ...added }), { listNames: ["News"] })
          const byRun = yield* seen
          const { contacts: found } = yield* contacts.getMany([ada.email])
          yield* contacts.change([{ ...ada, seen: found[0] ?? null, write: { ...written, resubscribe: true } }])
          const now = yield* seen
          const isSame = JSON.stringify(inOrder(byRun)) === JSON.stringify(inOrder(now))
          const expected = isSame ? undefined : stays(byRun, now)
          const isLeft = JSON.stringify(inOrder(expected)) === JSON.stringify(inOrder(now))
          const done = isSame
            ? { deleted: 1, outdated: 0, stripped: 0 }
            : isLeft
              ? { changed: 0, outdated: 1, stripped: 0 }
              : { changed: 1, partlyDone: 1, stripped: 1 }
          assert.deepInclude(yield* previewUndo(id), done)
          const report = yield* undoRun(id)
          assert.deepInclude(report, done)
          assert.deepStrictEqual(inOrder(yield* seen), inOrder(expected))
          // Doing it again does no harm.
          assert.deepInclude(yield* undoRun(id), { changed: 0, deleted: 0 })
          assert.deepStrictEqual(inOrder(yield* seen), inOrder(expected))
          if (report.run !== undefined) yield* undoRun(report.run)
          assert.deepStrictEqual(inOrder(yield* seen), inOrder(now))
        }),
      {
        arbitrary: { runs: amount({ ci: 30, long: 2000 }), seed: runSeed("undo of others"), size: 40 },
        timeout: 60_000
      }
    )
  })

  describe(`an undo by ${log}`, () => {
    it.effect("leaves a contact that others added in place of the one that the run added", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { run: id = "" } = yield* importContacts(Stream.make(ada))
        yield* contacts.delete(ada.email)
        yield* TestClock.adjust("1 day")
        yield* contacts.add([{ ...ada, firstName: "Ada" }])
        assert.deepInclude(yield* undoRun(id), { deleted: 0, changed: 0, outdated: 1 })
        assert.strictEqual((yield* contacts.get(ada.email)).status, "Active")
      }).pipe(Effect.provide(services))
    )

    it.effect("deletes what the run added, however long ago", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { run: id = "" } = yield* importContacts(Stream.make(ada))
        yield* TestClock.adjust("1 day")
        assert.deepInclude(yield* undoRun(id), { deleted: 1, outdated: 0 })
        assert.deepStrictEqual(yield* contacts.list(), [])
      }).pipe(Effect.provide(services))
    )
  })
}
