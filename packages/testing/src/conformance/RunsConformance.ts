/** Runs, on every layer that keeps them: what is recorded of each write, and what begins, ends and erases one. */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import {
  ContactFilter,
  ContactsService,
  ImportSource,
  NamedRun,
  type RecordedChange,
  RunsService,
  RunRefused,
  ServiceError
} from "@roster/domain"
import { Effect, Stream } from "effect"
import { eventually } from "./cases/Eventually.ts"
import { place } from "./cases/Place.ts"
import { refused } from "./cases/Refused.ts"

const begun = Effect.map(
  RunsService.use((runs) => runs.begin({ command: "conformance" })),
  ({ id }) => ({ id, inRun: Effect.provideService(NamedRun, id) })
)

const changesOf = (id: string) => RunsService.use((runs) => runs.changes(id))

/** What is compared of changes. */
const shown = (changes: ReadonlyArray<RecordedChange>) =>
  changes.map(({ effect, email, fields, number }) => [number, effect, email, fields])

/** Why the run of a call takes no writes. */
const refusedByRun = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  call: Effect.Effect<A, E | ServiceError, R>
) =>
  Effect.map(Effect.flip(call), (error) => {
    const reason = error instanceof ServiceError ? error.reason : error
    return reason instanceof RunRefused ? { run: reason.run, why: reason.why } : reason._tag
  })

export const runsConformance = (it: Cases<ContactsService | RunsService>): void => {
  it.describe("runs: the record", () => {
    it.effect("has what each write changed, in its order, and nothing of what others write", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email } = place()
        const { id, inRun } = yield* begun
        const list = `list of ${domain}`
        const on = `Lists.${list}`
        const [ada, bob, cy] = [email("Ada"), email("bob"), email("cy")]
        yield* inRun(contacts.add([{ email: ada, firstName: "Ada" }, { email: bob }], { listNames: [list] }))
        yield* contacts.update(ada, { lastName: "Lovelace" })
        yield* inRun(contacts.update(ada, { firstName: "Augusta", customFields: { city: "London" } }))
        yield* inRun(contacts.add([{ email: ada, firstName: "Augusta" }, { email: cy }]))
        const { contacts: found } = yield* contacts.getMany([bob])
        yield* inRun(
          contacts.change([
            { email: bob, seen: found[0] ?? null, write: { status: "Unsubscribed", removeFromLists: [list] } },
            { email: cy, seen: null, write: { firstName: "not as it was seen" } }
          ])
        )
        yield* inRun(contacts.delete(ada))
        yield* inRun(contacts.deleteMany(ContactFilter.ByEmails({ emails: [bob, email("nobody")] })))
        yield* contacts.deleteMany(ContactFilter.ByEmails({ emails: [cy] }))
        const changes = yield* changesOf(id)
        assert.deepStrictEqual(shown(changes), [
          [1, "Created", ada, {}],
          [2, "Created", bob, {}],
          [3, "Changed", ada, { FirstName: ["Ada", "Augusta"], "CustomFields.city": [null, "London"] }],
          [4, "Created", cy, {}],
          [5, "Changed", bob, { Status: ["Active", "Unsubscribed"], [on]: [list, null] }],
          [
            6,
            "Deleted",
            ada,
            {
              Email: [ada, null],
              Status: ["Active", null],
              FirstName: ["Augusta", null],
              LastName: ["Lovelace", null],
              "CustomFields.city": ["London", null],
              [on]: [list, null]
            }
          ],
          [7, "Deleted", bob, { Email: [bob, null], Status: ["Unsubscribed", null] }]
        ])
        assert.isTrue(changes[4]?.statusDate !== undefined)
        assert.deepStrictEqual(
          changes.map(({ after }) => typeof after),
          ["string", "string", "string", "string", "string", "object", "object"]
        )
        const run = yield* RunsService.use((runs) => runs.get(id))
        assert.deepStrictEqual(
          [run.created, run.changed, run.deleted, run.changes, run.command, run.isTaken],
          [3, 2, 2, 7, "conformance", true]
        )
      })
    )

    it.effect("has the contacts that a rule deletes", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, where } = place()
        yield* contacts.add(["ada", "bob", "cy"].map((name) => ({ email: email(name), firstName: name })))
        const { id, inRun } = yield* begun
        yield* inRun(contacts.deleteMany(ContactFilter.ByRule({ rule: where("firstname != 'bob'") })))
        assert.deepStrictEqual(
          (yield* changesOf(id)).map(({ effect, email }) => [effect, email]),
          [
            ["Deleted", email("ada")],
            ["Deleted", email("cy")]
          ]
        )
      })
    )

    it.effect("has what an import of the service writes, and the run is taken as long", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const runs = yield* RunsService
        const { email } = place()
        yield* contacts.add([{ email: email("ada"), firstName: "Ada" }])
        const { id, inRun } = yield* begun
        const content = Stream.encodeText(
          Stream.make(`Email,FirstName\n${email("ada")},Augusta\n${email("bob")},Bob\nno address,x\n`)
        )
        yield* inRun(contacts.import(ImportSource.File({ name: "rows.csv", content })))
        yield* runs.end(id)
        const run = yield* eventually(runs.get(id), ({ isTaken }) => !isTaken)
        assert.deepStrictEqual([run.created, run.changed], [1, 1])
        assert.deepStrictEqual(shown(yield* changesOf(id)), [
          [1, "Changed", email("ada"), { FirstName: ["Ada", "Augusta"] }],
          [2, "Created", email("bob"), {}]
        ])
      })
    )

    it.effect("has a call once that is made again with its idempotency key, which is of this run alone", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const { id, inRun } = yield* begun
        const other = yield* begun
        const [ada, bob] = [email("ada"), email("bob")]
        const add = contacts.add([{ email: ada, firstName: "Ada" }], { idempotencyKey: crypto.randomUUID() })
        const change = contacts.change([{ email: bob, seen: null, write: { firstName: "Bob" } }], {
          idempotencyKey: crypto.randomUUID()
        })
        const first = yield* inRun(add)
        const changed = yield* inRun(change)
        yield* contacts.update(ada, { firstName: "Augusta" })
        assert.deepStrictEqual(yield* inRun(add), first)
        assert.deepStrictEqual(yield* inRun(change), changed)
        for (const again of [add, other.inRun(add)]) yield* refused(again, "IdempotencyKeyReused")
        assert.deepStrictEqual(shown(yield* changesOf(id)), [
          [1, "Created", ada, {}],
          [2, "Created", bob, {}]
        ])
        assert.deepStrictEqual(yield* changesOf(other.id), [])
      })
    )

    it.effect("is read page by page, from the first change on and from the last one back", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const runs = yield* RunsService
        const { email } = place()
        const { id, inRun } = yield* begun
        yield* inRun(contacts.add(Array.from({ length: 25 }, (_, index) => ({ email: email(`n${index}`) }))))
        const numbers = (page?: Parameters<typeof runs.changes>[1]) =>
          Effect.map(runs.changes(id, page), (changes) => changes.map(({ number }) => number))
        const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n)
        assert.deepStrictEqual(yield* numbers(), upTo(1, 20))
        assert.deepStrictEqual(yield* numbers({ after: 20 }), upTo(21, 25))
        assert.deepStrictEqual(yield* numbers({ before: 26, limit: 3 }), [25, 24, 23])
        assert.deepStrictEqual(yield* numbers({ before: 3 }), [2, 1])
        assert.deepStrictEqual(yield* numbers({ after: 25 }), [])
        assert.deepStrictEqual(yield* numbers({ limit: 1000 }), upTo(1, 25))
        assert.strictEqual((yield* refused(runs.changes(id, { limit: 1001 }), "InvalidInput")).field, "limit")
        assert.strictEqual((yield* refused(runs.changes(id, { after: 1, before: 9 }), "InvalidInput")).field, "before")
      })
    )

    it.effect("keeps the numbers of changes whose persons are erased", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const runs = yield* RunsService
        const { email } = place()
        const { id, inRun } = yield* begun
        yield* inRun(contacts.add([{ email: email("ada") }, { email: email("bob") }]))
        yield* runs.erase(id, [1])
        yield* runs.erase(id, [1])
        assert.deepStrictEqual(shown(yield* changesOf(id)), [
          [1, "Created", null, {}],
          [2, "Created", email("bob"), {}]
        ])
        assert.strictEqual((yield* runs.get(id)).created, 2)
      })
    )
  })

  it.describe("runs: begin and end", () => {
    it.effect("a run that has ended takes no write, nor does one that is not there, and nothing is done", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const runs = yield* RunsService
        const { email, rule } = place()
        const { id, inRun } = yield* begun
        yield* runs.step(id, "half")
        assert.strictEqual((yield* runs.get(id)).step, "half")
        yield* runs.end(id)
        yield* runs.end(id)
        assert.deepStrictEqual(yield* refusedByRun(inRun(contacts.add([{ email: email("ada") }]))), {
          run: id,
          why: "Ended"
        })
        assert.deepStrictEqual(yield* refusedByRun(runs.step(id, "late")), { run: id, why: "Ended" })
        const none = Effect.provideService(NamedRun, "none")
        assert.deepStrictEqual(yield* refusedByRun(none(contacts.delete(email("ada")))), {
          run: "none",
          why: "Unknown"
        })
        const noId = Effect.provideService(NamedRun, "a\nb")
        assert.deepStrictEqual(yield* refusedByRun(noId(contacts.add([{ email: email("ada") }]))), {
          run: "-",
          why: "Unknown"
        })
        assert.deepStrictEqual((yield* contacts.count({ rule })).count, 0)
        const { ended, isTaken } = yield* runs.get(id)
        assert.deepStrictEqual([ended === null, isTaken], [false, false])
      })
    )

    it.effect("of an equal input one run is open, and another begins once it has ended", () =>
      Effect.gen(function* () {
        const runs = yield* RunsService
        const work = { command: "import", input: place().domain, about: "rows.csv" }
        const { about, id, input, isResumed } = yield* runs.begin(work)
        assert.deepStrictEqual([about, isResumed, input === work.input], ["rows.csv", false, false])
        assert.strictEqual((yield* refused(runs.begin(work), "RunTaken")).run, id)
        assert.strictEqual((yield* refused(runs.begin({ command: "undo", undoes: id }), "RunTaken")).run, id)
        yield* runs.end(id, { resumable: true })
        assert.isFalse((yield* runs.get(id)).isTaken)
        const resumed = yield* runs.begin(work)
        assert.deepStrictEqual([resumed.id, resumed.isResumed, resumed.isTaken], [id, true, true])
        yield* runs.end(id)
        const next = yield* runs.begin(work)
        assert.deepStrictEqual([next.id === id, next.isResumed, next.input], [false, false, input])
        yield* runs.end(next.id)
        const undo = yield* runs.begin({ command: "undo", undoes: id })
        assert.strictEqual(undo.undoes, id)
        yield* runs.end(undo.id)
      })
    )

    it.effect("runs are listed, the newest first, and those before one of them", () =>
      Effect.gen(function* () {
        const runs = yield* RunsService
        const one = yield* begun
        const other = yield* begun
        const ids = (yield* runs.list({ limit: 1000 })).map(({ id }) => id)
        assert.isTrue(ids.indexOf(other.id) >= 0 && ids.indexOf(other.id) < ids.indexOf(one.id))
        const [before] = yield* runs.list({ before: other.id, limit: 1 })
        assert.isTrue(before !== undefined && ids.indexOf(before.id) === ids.indexOf(other.id) + 1)
        yield* refused(runs.list({ limit: -1 }), "InvalidInput")
      })
    )

    it.effect("a run that is not there is not found, whatever is asked of it", () =>
      Effect.gen(function* () {
        const runs = yield* RunsService
        for (const id of ["none", "..", "", "a/b"]) {
          yield* refused(runs.get(id), "RunNotFound")
          yield* refused(runs.changes(id), "RunNotFound")
          yield* refused(runs.end(id), "RunNotFound")
          yield* refused(runs.step(id, "half"), "RunNotFound")
          yield* refused(runs.erase(id, [1]), "RunNotFound")
          yield* refused(runs.list({ before: id }), "RunNotFound")
        }
        yield* refused(runs.begin({ command: "undo", undoes: "none" }), "RunNotFound")
      })
    )

    it.effect.each([
      ["no command", { command: "" }],
      ["a command of 65 characters", { command: "x".repeat(65) }],
      ["a long text of what it is of", { command: "import", about: "x".repeat(1001) }],
      ["a long input", { command: "import", input: "x".repeat(1001) }],
      ["a NUL", { command: "import", about: "a\0b" }]
    ] as const)("a run is not begun with %s", ([, run]) =>
      refused(
        RunsService.use((runs) => runs.begin(run)),
        "InvalidInput"
      )
    )
  })
}
