/**
 * Whatever contacts a run adds, changes and deletes, undoing it brings back each of them in all that a store holds; and
 * undoing that brings back what the run had made of them.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { ContactFilter, ContactsService, JsonParser, LocalContacts, RuleText } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as EmbeddedHttpClient from "@roster/server/EmbeddedHttpClient"
import { RunEntry } from "@roster/workflows"
import { makeContactLookup, makeRecorder, recordedContacts, undoRun } from "@roster/workflows/former"
import { DateTime, Effect, Layer, Schema, Stream } from "effect"
import { amount, runSeed } from "../../src/durability/LongRun.ts"
import { awkwardContacts } from "../../src/properties/AwkwardContacts.ts"

const seed = runSeed("undo of generated runs")

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })
const Line = JsonParser.fromJsonString(RunEntry)
const encodeLine = Schema.encodeSync(Line)
const decodeLine = Schema.decodeSync(Line)

/** A run whose record is kept as text, as in a file. */
const makeRun = Effect.gen(function* () {
  const lines: Array<string> = []
  const recorder = makeRecorder({ append: (entry) => Effect.sync(() => void lines.push(encodeLine(entry))) })
  const lookup = yield* makeContactLookup({ expected: 0 })
  const backwards = Stream.suspend(() => Stream.fromIterable(lines.toReversed().map((line) => decodeLine(line))))
  return { recorder, lookup, backwards }
})

const embedded = EmbeddedHttpClient.layer({ filename: ":memory:" })
const services = Layer.mergeAll(
  Layer.provide(RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }), embedded),
  Layer.provide(Layer.effect(LocalContacts, LocalContacts), embedded),
  NodeServices.layer
)

layer(services, {
  excludeTestServices: true,
  timeout: "60 seconds"
})("an undo", (it) => {
  const two = [
    awkwardContacts({ minLength: 1, maxLength: 30 }),
    awkwardContacts({ minLength: 1, maxLength: 30 })
  ] as const
  it.effect.prop(
    "brings back all of what any run changed",
    [...two],
    ([base, given]) =>
      Effect.gen(function* () {
        const service = yield* ContactsService
        const store = yield* LocalContacts
        if (store === undefined) return assert.fail("there is no store in this process")
        yield* service.deleteMany(everyone)
        yield* service.add(base, { listNames: ["Old"] })
        const emails = [...base, ...given].map(({ email }) => email)
        // What only a service sets.
        const date = DateTime.makeUnsafe(1_000_000_000_000)
        const stored = (yield* store.read(emails)).flatMap((one) => one ?? [])
        const activity = {
          totalSent: 3,
          lastSent: date,
          lastIP: "192.0.2.1",
          errorCode: 550,
          friendlyErrorMessage: "no"
        }
        const rich = stored.map((one, index) => ({
          ...one,
          contact: { ...one.contact, source: "WebForm" as const, dateAdded: date, dateUpdated: date, activity },
          lists: index % 2 === 0 ? [] : one.lists
        }))
        yield* store.write(rich)
        const content = Effect.all([store.read(emails), service.list({ limit: 1000 })])
        const before = yield* content

        const run = yield* makeRun
        const recorded = yield* recordedContacts(service, run)
        const half = Math.ceil(given.length / 2)
        yield* recorded.add(given.slice(0, half), { listNames: ["New", "Old"], resubscribe: false })
        yield* recorded.addWithoutAnswer(given.slice(half), { listNames: ["New"], resubscribe: true })
        const [first, second, ...rest] = emails.filter((_, index) => index % 3 === 0)
        if (first !== undefined) yield* recorded.deleteMany(ContactFilter.ByEmails({ emails: [first, ...rest] }))
        if (second !== undefined)
          yield* Effect.ignore(recorded.update(second, { firstName: "X", customFields: { x: "y" } }))
        const after = yield* content

        const undo = yield* makeRun
        const report = yield* undoRun(run.backwards, undo)
        assert.strictEqual(report.changedSince, 0)
        assert.deepStrictEqual(yield* content, before)

        yield* undoRun(undo.backwards, yield* makeRun)
        assert.deepStrictEqual(yield* content, after)

        const added = yield* store.add(given, { listNames: ["New"] })
        assert.deepStrictEqual(added, yield* store.read(given.map(({ email }) => email)))
      }),
    {
      arbitrary: { runs: amount({ ci: 15, long: 5000 }), seed, size: 100 },
      timeout: amount({ ci: 60_000, long: 3_600_000 })
    }
  )
})
