import { assert, describe, it } from "@effect/vitest"
import {
  type AccessLevel,
  ContactsService,
  CredentialName,
  CredentialsService,
  EmailAddress,
  NamedRun,
  RunNotFound,
  type RunPayload,
  RunsService,
  RunTaken,
  type ServiceError,
  ContactFilter,
  RuleText
} from "@roster/domain"
import { Duration, Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Caller, type CallerIdentity } from "../../src/credentials/Caller.ts"
import { removeExpired } from "../../src/jobs/worker/JobCleanup.ts"
import { keptSeconds, leaseSeconds, maximumRunBytes } from "../../src/runs/RunRow.ts"
import { layerForHttp } from "../../src/services/HttpServices.ts"

const services = layerForHttp({ filename: ":memory:" }, true)

const email = (name: string) => EmailAddress.make(`${name}@example.com`)
const ada = email("ada")

/** A key with levels, as the caller that it makes. */
const keyOf = Effect.fnUntraced(function* (name: string, levels: ReadonlyArray<AccessLevel>) {
  const { apiKeys } = yield* CredentialsService
  const sql = yield* SqlClient.SqlClient
  yield* apiKeys.create({ name: CredentialName.make(name), accessLevels: levels })
  const [row] = yield* sql<{ readonly id: number }>`SELECT id FROM credentials WHERE name = ${name}`
  const caller: CallerIdentity = {
    account: "",
    key: {
      id: row?.id ?? 0,
      name,
      hint: "hint",
      level: "ModifyContacts",
      mayViewContacts: levels.includes("ViewContacts")
    }
  }
  return caller
})

const as = (caller: CallerIdentity) => Effect.provideService(Caller, caller)
const inRun = (id: string) => Effect.provideService(NamedRun, id)

const begin = (run: Partial<RunPayload> = {}) => RunsService.use((runs) => runs.begin({ command: "import", ...run }))

const add = (name = "ada") => ContactsService.use((contacts) => contacts.add([{ email: email(name) }]))

/** Why a write is refused, by the tag of its reason. */
const reasonOf = <A, E extends { readonly _tag: string }, R>(write: Effect.Effect<A, E | ServiceError, R>) =>
  Effect.map(Effect.flip(write), (error) =>
    "reason" in error && error._tag === "ServiceError"
      ? error.reason._tag === "RunRefused"
        ? error.reason.why
        : error.reason._tag
      : error._tag
  )

const emailsOf = (id: string) =>
  Effect.map(
    RunsService.use((runs) => runs.changes(id)),
    (changes) => changes.map(({ email }) => email)
  )

const waited = (seconds: number) => TestClock.adjust(Duration.seconds(seconds))

describe("a run", () => {
  it.effect("is named by the key that began it and by the one with its name after a rotation, and by no other", () =>
    Effect.gen(function* () {
      const both = ["ViewContacts", "ModifyContacts"] as const
      const [first, other] = [yield* keyOf("ci", both), yield* keyOf("other", both)]
      const { id, key } = yield* begin().pipe(as(first))
      assert.strictEqual(key, "ci")
      yield* add("one").pipe(inRun(id), as(first))
      assert.strictEqual(yield* reasonOf(add("two").pipe(inRun(id), as(other))), "OfAnotherKey")
      assert.strictEqual(yield* reasonOf(add("two").pipe(inRun(id))), "OfAnotherKey")
      assert.strictEqual(
        yield* reasonOf(RunsService.use((runs) => runs.step(id, "{}")).pipe(as(other))),
        "OfAnotherKey"
      )
      const { apiKeys } = yield* CredentialsService
      yield* apiKeys.update("ci", { name: CredentialName.make("ci~old-2026-11-29") })
      const successor = yield* keyOf("ci", both)
      yield* add("three").pipe(inRun(id), as(successor))
      yield* add("four").pipe(inRun(id), as(first))
      assert.deepStrictEqual(yield* emailsOf(id), ["one", "three", "four"].map(email))
      assert.strictEqual(
        yield* reasonOf(ContactsService.use((contacts) => contacts.get(email("two")))),
        "ContactNotFound"
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("asks each key for what it may", () =>
    Effect.gen(function* () {
      const writer = yield* keyOf("writer", ["ModifyContacts"])
      const [reader, both] = [
        yield* keyOf("reader", ["ViewContacts"]),
        yield* keyOf("both", ["ViewContacts", "ModifyContacts"])
      ]
      const runs = yield* RunsService
      assert.strictEqual(yield* reasonOf(begin().pipe(as(reader))), "AccessDenied")
      const { id } = yield* begin().pipe(as(writer))
      yield* add().pipe(inRun(id), as(writer))
      // The end of another key's run, its undo and an erasure need both.
      yield* waited(leaseSeconds)
      const lone = yield* keyOf("lone", ["ModifyContacts"])
      assert.strictEqual(yield* reasonOf(runs.end(id).pipe(as(lone))), "AccessDenied")
      assert.strictEqual(yield* reasonOf(runs.erase(id, [1]).pipe(as(writer))), "AccessDenied")
      assert.strictEqual(yield* reasonOf(begin({ undoes: id }).pipe(as(writer))), "AccessDenied")
      yield* runs.end(id).pipe(as(both))
      yield* runs.erase(id, [1]).pipe(as(both))
    }).pipe(Effect.provide(services))
  )

  it.effect("takes no writes once it has ended, and a call that it refuses does nothing", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const { id } = yield* begin()
      yield* add().pipe(inRun(id))
      yield* runs.end(id)
      yield* runs.end(id)
      assert.strictEqual(yield* reasonOf(add("bob").pipe(inRun(id))), "Ended")
      assert.strictEqual(
        yield* reasonOf(ContactsService.use((contacts) => contacts.delete(ada)).pipe(inRun(id))),
        "Ended"
      )
      assert.strictEqual(yield* reasonOf(add("bob").pipe(inRun("none"))), "Unknown")
      const contacts = yield* ContactsService
      const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })
      assert.strictEqual(yield* reasonOf(contacts.deleteMany(everyone).pipe(inRun(id))), "Ended")
      assert.deepStrictEqual(yield* contacts.count(), { count: 1 })
      assert.deepStrictEqual(yield* emailsOf(id), [ada])
    }).pipe(Effect.provide(services))
  )

  it.effect("of an equal input is one while somebody is at work on it, and resumes when it was left", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const work = { input: "the digest of a file", about: "contacts.csv" }
      const { id, input, isResumed } = yield* begin(work)
      assert.isFalse(isResumed)
      assert.match(input ?? "", /^[0-9a-f]{64}$/)
      assert.deepStrictEqual(yield* Effect.flip(begin(work)), new RunTaken({ run: id }))
      assert.notStrictEqual((yield* begin({ input: "another" })).id, id)
      assert.notStrictEqual((yield* begin()).id, (yield* begin()).id)
      // Its writes hold it.
      yield* waited(leaseSeconds - 1)
      yield* add().pipe(inRun(id))
      yield* waited(leaseSeconds - 1)
      assert.isTrue((yield* runs.get(id)).isTaken)
      assert.deepStrictEqual(yield* Effect.flip(begin(work)), new RunTaken({ run: id }))
      yield* waited(1)
      assert.isFalse((yield* runs.get(id)).isTaken)
      const resumed = yield* begin({ ...work, about: "elsewhere.csv" })
      assert.deepStrictEqual(
        [resumed.id, resumed.isResumed, resumed.changes, resumed.about],
        [id, true, 1, "contacts.csv"]
      )
      yield* waited(leaseSeconds)
      const anew = yield* begin({ ...work, resume: false })
      assert.deepStrictEqual([anew.isResumed, (yield* runs.get(id)).ended === null], [false, false])
      yield* runs.end(anew.id)
      assert.isFalse((yield* begin(work)).isResumed)
    }).pipe(Effect.provide(services))
  )

  it.effect("that another key left is ended by who begins the same, and not resumed", () =>
    Effect.gen(function* () {
      const both = ["ViewContacts", "ModifyContacts"] as const
      const [first, other] = [yield* keyOf("first", both), yield* keyOf("other", both)]
      const { id } = yield* begin({ input: "same" }).pipe(as(first))
      assert.deepStrictEqual(yield* Effect.flip(begin({ input: "same" }).pipe(as(other))), new RunTaken({ run: id }))
      yield* waited(leaseSeconds)
      assert.isFalse((yield* begin({ input: "same" }).pipe(as(other))).isResumed)
      assert.isNotNull((yield* RunsService.use((runs) => runs.get(id))).ended)
    }).pipe(Effect.provide(services))
  )

  it.effect("is ended by who undoes it or ends it for another key, once its lease has ended and not before", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const both = ["ViewContacts", "ModifyContacts"] as const
      const [first, other] = [yield* keyOf("first", both), yield* keyOf("other", both)]
      for (const ending of ["undo", "end"]) {
        const { id } = yield* begin({ input: ending }).pipe(as(first))
        const end = ending === "end" ? runs.end(id) : begin({ command: "undo", undoes: id })
        assert.deepStrictEqual(yield* Effect.flip(as(other)(end)), new RunTaken({ run: id }))
        yield* waited(leaseSeconds)
        yield* as(other)(end)
        assert.isNotNull((yield* runs.get(id)).ended)
        assert.strictEqual(yield* reasonOf(add().pipe(inRun(id), as(first))), "Ended")
        assert.isFalse((yield* begin({ input: ending }).pipe(as(first))).isResumed)
      }
      assert.deepStrictEqual(yield* Effect.flip(begin({ undoes: "none" })), new RunNotFound({ run: "none" }))
    }).pipe(Effect.provide(services))
  )

  it.effect("is its account's alone", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const subaccount: CallerIdentity = { account: "sub@example.com" }
      const { id } = yield* begin()
      yield* add().pipe(inRun(id))
      assert.deepStrictEqual(yield* as(subaccount)(runs.list()), [])
      const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        runs.get(id),
        runs.changes(id),
        runs.end(id),
        runs.step(id, "x"),
        runs.erase(id, [1]),
        runs.list({ before: id }),
        runs.begin({ command: "undo", undoes: id })
      ]
      for (const call of calls) assert.strictEqual((yield* Effect.flip(as(subaccount)(call)))._tag, "RunNotFound")
      assert.strictEqual(yield* reasonOf(add("bob").pipe(inRun(id), as(subaccount))), "Unknown")
    }).pipe(Effect.provide(services))
  )

  it.effect("has steps, of which the last one counts", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const { id } = yield* begin()
      yield* runs.step(id, `{"made":1}`)
      yield* runs.step(id, `{"made":2}`)
      assert.strictEqual((yield* runs.get(id)).step, `{"made":2}`)
      for (const state of ["x".repeat(65_537), "\0", "\ud800"]) {
        assert.strictEqual((yield* Effect.flip(runs.step(id, state)))._tag, "InvalidInput")
      }
      yield* runs.end(id)
      assert.strictEqual(yield* reasonOf(runs.step(id, "late")), "Ended")
    }).pipe(Effect.provide(services))
  )

  it.effect.each([
    { command: "" },
    { command: "x".repeat(65) },
    { about: "x".repeat(1001) },
    { input: "x".repeat(1001) },
    { about: "\0" },
    { input: "" },
    { undoes: "../.." }
  ])("is not begun as %j", (run) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(begin(run)))._tag, "InvalidInput")
    }).pipe(Effect.provide(services))
  )

  it.effect("is begun once by one idempotency key", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const once = runs.begin({ command: "import", input: "same" }, { idempotencyKey: "key" })
      assert.deepStrictEqual(yield* once, yield* once)
      // The key of a call in a run is another call's in no run.
      const { id } = yield* begin()
      const contacts = yield* ContactsService
      const adding = contacts.add([{ email: ada }], { idempotencyKey: "add" })
      yield* inRun(id)(adding)
      assert.strictEqual((yield* Effect.flip(adding))._tag, "IdempotencyKeyReused")
      yield* inRun(id)(adding)
      assert.deepStrictEqual(yield* emailsOf(id), [ada])
    }).pipe(Effect.provide(services))
  )

  it.effect("is listed, the newest first, page by page", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const ids: Array<string> = []
      for (let number = 0; number < 5; number++) ids.unshift((yield* begin()).id)
      const page = (options: Parameters<RunsService["Service"]["list"]>[0]) =>
        Effect.map(runs.list(options), (all) => all.map(({ id }) => id))
      assert.deepStrictEqual(yield* page({}), ids)
      assert.deepStrictEqual(yield* page({ limit: 2 }), ids.slice(0, 2))
      assert.deepStrictEqual(yield* page({ limit: 2, before: ids[1] }), ids.slice(2, 4))
      assert.deepStrictEqual(yield* page({ before: ids[4] }), [])
    }).pipe(Effect.provide(services))
  )

  it.effect("keeps the number and the effect of a change whose person is erased, and nothing of that person", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const sql = yield* SqlClient.SqlClient
      const contacts = yield* ContactsService
      const { id } = yield* begin()
      yield* contacts.add(["ada", "bob"].map((name) => ({ email: email(name) }))).pipe(inRun(id))
      yield* contacts.update(ada, { firstName: "Augusta" }).pipe(inRun(id))
      yield* runs.erase(id, [1, 3, 99])
      const erased = { email: null, fields: {}, after: null }
      assert.deepStrictEqual(
        (yield* runs.changes(id)).map((change) => (change.number === 2 ? change.email : { ...change })),
        [{ number: 1, effect: "Created", ...erased }, email("bob"), { number: 3, effect: "Changed", ...erased }]
      )
      const { changed, changes, created } = yield* runs.get(id)
      assert.deepStrictEqual([created, changed, changes], [2, 1, 3])
      const [row] = yield* sql`SELECT bytes, (SELECT sum(length(content)) FROM run_changes) AS held FROM runs`
      assert.strictEqual(row?.["bytes"], row?.["held"])
      assert.notInclude(JSON.stringify(yield* sql`SELECT content FROM run_changes`), "ada")
    }).pipe(Effect.provide(services))
  )
})

describe("an import", () => {
  const file = (rows: number) => ({
    _tag: "File" as const,
    name: "rows.csv",
    content: Stream.make(`Email\n${Array.from({ length: rows }, (_, row) => `p${row}@example.com`).join("\n")}`).pipe(
      Stream.encodeText
    )
  })

  it.effect("writes in the run that its request named, which is taken until it ends", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const sql = yield* SqlClient.SqlClient
      const contacts = yield* ContactsService
      const { id } = yield* begin()
      // A job that nobody runs yet.
      const number = sql`SELECT number FROM runs WHERE id = ${id}`
      yield* sql`
        INSERT INTO jobs (id, account, kind, state, request, created, expires, run, lease, leased_until)
        VALUES ('waiting', '', 'Import', 'Receiving', '{}', 0, 99999999999, (${number}), 'other', 0)`
      yield* runs.end(id)
      yield* waited(leaseSeconds)
      assert.isTrue((yield* runs.get(id)).isTaken)
      assert.deepStrictEqual(yield* Effect.flip(begin({ undoes: id })), new RunTaken({ run: id }))
      yield* sql`DELETE FROM jobs`
      assert.isFalse((yield* runs.get(id)).isTaken)
      assert.strictEqual(yield* reasonOf(contacts.import(file(1)).pipe(inRun(id))), "Ended")
      assert.deepStrictEqual(yield* sql`SELECT number FROM jobs`, [])
    }).pipe(Effect.provide(services))
  )
})

describe("the runs of an account", () => {
  it.effect("go 30 days after their end, or after their last write, with their changes", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const sql = yield* SqlClient.SqlClient
      const left = (yield* begin()).id
      yield* add().pipe(inRun(left))
      yield* waited(10)
      const ended = (yield* begin()).id
      yield* add("bob").pipe(inRun(ended))
      yield* runs.end(ended)
      yield* waited(keptSeconds - 1)
      assert.strictEqual((yield* runs.list()).length, 2)
      yield* waited(1)
      assert.deepStrictEqual(
        (yield* runs.list()).map(({ id }) => id),
        [left]
      )
      yield* waited(leaseSeconds)
      assert.deepStrictEqual(yield* runs.list(), [])
      assert.strictEqual(yield* reasonOf(add("cy").pipe(inRun(left))), "Unknown")
      yield* removeExpired
      assert.deepStrictEqual(yield* sql`SELECT number FROM runs`, [])
      assert.deepStrictEqual(yield* sql`SELECT number FROM run_changes`, [])
    }).pipe(Effect.provide(services))
  )

  it.effect("go from the oldest ended one on where they are too large together, and an open one never", () =>
    Effect.gen(function* () {
      const runs = yield* RunsService
      const sql = yield* SqlClient.SqlClient
      const made: Array<string> = []
      for (const name of ["open", "oldest", "older", "newest"]) {
        const { id } = yield* begin()
        yield* add(name).pipe(inRun(id))
        made.push(id)
        if (name !== "open") yield* runs.end(id)
      }
      const [open = "", oldest = "", ...kept] = made
      yield* sql`UPDATE runs SET bytes = ${maximumRunBytes / 4}`
      yield* begin()
      assert.strictEqual((yield* runs.list()).length, 5)
      yield* sql`UPDATE runs SET bytes = ${maximumRunBytes / 4 + 1} WHERE bytes > 0 AND id <> ${open}`
      const { id: last } = yield* begin()
      const ids = (yield* runs.list()).map(({ id }) => id)
      assert.deepStrictEqual(
        [ids.includes(open), ids.includes(oldest), kept.every((id) => ids.includes(id))],
        [true, false, true]
      )
      // One that would be too large alone is refused, and its write with it.
      yield* sql`UPDATE runs SET bytes = ${maximumRunBytes} - 10 WHERE id = ${last}`
      assert.strictEqual(yield* reasonOf(add("too-much").pipe(inRun(last))), "TooLarge")
      assert.strictEqual(
        yield* reasonOf(ContactsService.use((contacts) => contacts.get(email("too-much")))),
        "ContactNotFound"
      )
      yield* runs.end(last)
    }).pipe(Effect.provide(services))
  )
})
