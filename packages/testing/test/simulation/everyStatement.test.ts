/**
 * S76 The n-th statement of each call fails, for every n until the call passes untouched: the call says so, nothing of it is
 * half done, and the store works on. The same of each program, which a second run brings to its end.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  AccountService,
  ContactFilter,
  ContactsService,
  CredentialsService,
  EmailMessage,
  EmailsService,
  ImportSource,
  ListsService,
  NamedRun,
  RuleText,
  RunsService,
  ServiceError
} from "@roster/domain"
import { SqlServices } from "@roster/server"
import { createWithRetry, planImport, planDelete, RunLog, undoRun, importContacts } from "@roster/workflows"
import { Cause, Effect, Exit, Fiber, Layer, Predicate, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { DatabaseSync, StatementSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import {
  accountId,
  canaryEmail,
  credentialNames,
  everyOperation,
  listName,
  ownOperations,
  runId,
  type Services
} from "../faults/EveryOperation.ts"
import { longRun } from "../../src/simulation/LongRun.ts"

/** What SQLite says, each of another step of its work. */
const failures = [
  { errcode: 5, message: "database is locked" },
  { errcode: 10, message: "disk I/O error" },
  { errcode: 13, message: "database or disk is full" }
] as const

/** Fails the n-th statement of an effect, and says whether it came to it. */
const failing = <A, E, R>(effect: Effect.Effect<A, E, R>, n: number, failure: (typeof failures)[number]) => {
  let count = 0
  const step = () => {
    if (++count === n) throw Object.assign(new Error(failure.message), { code: "ERR_SQLITE_ERROR", ...failure })
  }
  const stepping = <F extends (...given: Array<never>) => unknown>(method: F): F =>
    new Proxy(method, {
      apply: (target, self, given) => {
        step()
        return Reflect.apply(target, self, given)
      }
    })
  const { all, get, run } = StatementSync.prototype
  const { exec } = DatabaseSync.prototype
  return Effect.acquireUseRelease(
    Effect.sync(() => {
      Object.assign(StatementSync.prototype, { all: stepping(all), get: stepping(get), run: stepping(run) })
      Object.assign(DatabaseSync.prototype, { exec: stepping(exec) })
    }),
    () => Effect.exit(effect),
    () =>
      Effect.sync(() => {
        Object.assign(StatementSync.prototype, { all, get, run })
        Object.assign(DatabaseSync.prototype, { exec })
      })
  ).pipe(Effect.map((exit) => ({ exit, isReached: count >= n })))
}

/** A value without what is random in it. */
const steady = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return `${value.length} bytes`
  return Predicate.isString(value)
    ? value.replaceAll(
        /[\da-f]{8}-[\da-f-]{27}|(?<=…)\w{4}|\w+(?= [\d.]+ [\da-f]{8}-)|(?<=\d{6}Z-)[\da-f]{8}/g,
        "random"
      )
    : value
}

/** All rows of the store, by their table. */
type State = Readonly<Record<string, ReadonlyArray<ReadonlyArray<unknown>> | undefined>>

const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('migrations', 'stores')
    ORDER BY name`
  const rows = yield* Effect.forEach(tables, ({ name }) => sql`SELECT * FROM ${sql(name)}`.values)
  const [whole] = yield* sql`PRAGMA integrity_check`.values
  assert.deepStrictEqual(whole, ["ok"])
  const state: State = Object.fromEntries(
    tables.map(({ name }, index) => [name, rows[index]?.map((row) => row.map(steady))])
  )
  return state
})

const store = () =>
  Layer.merge(
    SqlServices.layerWithStore({ filename: ":memory:", allowedSenders: ["*@example.com"] }),
    RunLog.layerMemory()
  )

type Needs = Services | RunLog

/** A store with what the calls look for. */
const prepare = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const { apiKeys, smtp } = yield* CredentialsService
  yield* contacts.add([{ email: canaryEmail, firstName: "before" }, { email: "ben@example.com" }], {
    listNames: ["old"]
  })
  yield* apiKeys.create({ name: credentialNames.apiKey, accessLevels: ["Security"] })
  yield* apiKeys.create({ name: "keeper", accessLevels: ["Security"] })
  yield* smtp.create({ name: credentialNames.smtp })
})

/** The job and the e-mail that the calls name. */
const importFileOfCalls = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const sql = yield* SqlClient.SqlClient
  yield* contacts.import(
    ImportSource.File({
      name: "contacts.csv",
      content: Stream.make(new TextEncoder().encode("Email\r\nno address\r\n")),
      replayable: true
    })
  )
  yield* sql`UPDATE jobs SET id = ${accountId}, state = 'Loading', ended = NULL`
})
const sendMail = Effect.gen(function* () {
  const emails = yield* EmailsService
  const sql = yield* SqlClient.SqlClient
  yield* emails.send(
    EmailMessage.make({ recipients: [{ email: canaryEmail }], content: { from: "john@example.com", subject: "Hello" } })
  )
  yield* sql`UPDATE outbox SET message_id = ${accountId}`
})
const saveVip = AccountService.use((account) => account.saveRule("vip", "All"))

const removeKey = CredentialsService.use(({ apiKeys }) => apiKeys.delete(credentialNames.apiKey))
const removeSmtp = CredentialsService.use(({ smtp }) => smtp.delete(credentialNames.smtp))

/** The run that the calls name. */
const beginRun = Effect.gen(function* () {
  const runs = yield* RunsService
  const sql = yield* SqlClient.SqlClient
  const { id } = yield* runs.begin({ command: "import" })
  yield* ContactsService.use((contacts) => contacts.add([{ email: "cy@example.com" }])).pipe(
    Effect.provideService(NamedRun, id)
  )
  yield* sql`UPDATE runs SET id = ${runId}`
})

/** The list that the calls name, with a contact on it. */
const makeList = ListsService.use((lists) => lists.create({ listName, emails: ["ben@example.com"] }))

/** What a call needs besides. */
const before: Readonly<Record<string, Effect.Effect<unknown, unknown, Needs | SqlClient.SqlClient>>> = {
  accountEmailsByIdGet: sendMail,
  accountEmailsGet: sendMail,
  accountJobsByIdCancelPost: importFileOfCalls,
  accountJobsByIdGet: importFileOfCalls,
  accountJobsByIdKeptGet: importFileOfCalls,
  accountJobsByIdRejectedGet: importFileOfCalls,
  accountRulesByNameDelete: saveVip,
  listsByListnameContactsGet: makeList,
  listsByNameContactsPost: makeList,
  listsByNameContactsRemovePost: makeList,
  listsByNameDelete: makeList,
  listsByNameGet: makeList,
  listsByNamePut: makeList,
  runsByIdEndPost: beginRun,
  runsByIdErasePost: beginRun,
  runsByIdStepPost: beginRun,
  securityApikeysPost: removeKey,
  securitySmtpPost: removeSmtp
}

const tagOf = <A, E>(exit: Exit.Exit<A, E>): string => {
  if (Exit.isSuccess(exit)) return "done"
  assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
  const error = Cause.squash(exit.cause)
  return Predicate.hasProperty(error, "_tag") ? String(error._tag) : "an error without a tag"
}

/** Waits until a fiber has ended, or does nothing for a while but wait for the clock. */
const idleOrEnded = (fiber: Fiber.Fiber<unknown, unknown>) =>
  Effect.promise(async () => {
    for (let turn = 0; turn < 60 && fiber.pollUnsafe() === undefined; turn++) await setTimeout(1)
  })

/** When each run begins. Not 1970: the audit trail ages by the clock of the database, so that its entries would go at once. */
const start = Date.now()

/** Runs on a new store, from the same time on, which moves only when nothing else is left to wait for. */
const onStore = <A, E>(effect: Effect.Effect<A, E, Needs | SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(start)
    const fiber = yield* Effect.forkChild(Effect.provide(effect, store(), { local: true }), { startImmediately: true })
    for (yield* idleOrEnded(fiber); fiber.pollUnsafe() === undefined; yield* idleOrEnded(fiber)) {
      yield* TestClock.adjust("1 minute")
    }
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(TestClock.layer(), { local: true }))

/** The failures of one step: one of them in a run of all tests, another for each step. */
const failuresOf = (n: number) => failures.filter((_, index) => longRun || n % failures.length === index)

/** Fails each statement in turn, or one of so many. */
const throughout = <E>(
  program: Effect.Effect<unknown, E, Needs>,
  setUp: Effect.Effect<unknown, unknown, Needs | SqlClient.SqlClient>,
  look: (seen: {
    readonly exit: Exit.Exit<unknown, E>
    readonly undisturbed: string
    readonly state: {
      readonly before: State
      readonly after: State
      readonly now: typeof dump
    }
    readonly where: string
  }) => Effect.Effect<void, unknown, Needs | SqlClient.SqlClient>,
  stride = 1
) =>
  Effect.gen(function* () {
    const { after, undisturbed } = yield* onStore(
      Effect.gen(function* () {
        yield* setUp
        const undisturbed = tagOf(yield* Effect.exit(program))
        return { undisturbed, after: yield* dump }
      })
    )
    for (let n = 1, isReached = true; isReached; n += stride) {
      for (const failure of failuresOf(n)) {
        isReached = yield* onStore(
          Effect.gen(function* () {
            yield* setUp
            const before = yield* dump
            const { exit, isReached } = yield* failing(program, n, failure)
            const where = `statement ${n}: ${failure.message}`
            yield* look({ exit, undisturbed, where, state: { before, after, now: dump } })
            // It works on, and nothing is held.
            yield* ContactsService.use((contacts) => contacts.add([{ email: "later@example.com" }]))
            return isReached
          })
        )
      }
      assert.isBelow(n, 400)
    }
  })

/** The writes that name a run. */
const writesOfRun: Readonly<Record<string, Effect.Effect<unknown, unknown, Needs>>> = {
  ...Object.fromEntries(
    [...everyOperation, ...ownOperations]
      .filter(({ id, method }) => id.startsWith("contacts") && method !== "GET" && !/Export|Lookup|Delete/.test(id))
      .map(({ call, id }) => [id, call])
  ),
  contactsByEmailDelete: ContactsService.use((contacts) => contacts.delete(canaryEmail)),
  contactsDeletePost: ContactsService.use((contacts) =>
    contacts.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("firstname = 'before'") }))
  )
}

/** Fails each statement of a call in turn: what it says is what is there. */
const doneOrNot = <E>(
  call: Effect.Effect<unknown, E, Needs>,
  setUp: Effect.Effect<unknown, unknown, Needs | SqlClient.SqlClient>
) =>
  throughout(call, Effect.andThen(prepare, setUp), ({ exit, state, undisturbed, where }) =>
    Effect.gen(function* () {
      const tag = tagOf(exit)
      assert.include(["ServiceError", undisturbed], tag, where)
      const now = yield* state.now
      if (tag === undisturbed) assert.deepStrictEqual(now, state.after, where)
      else {
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        const mayBeDone = error instanceof ServiceError && error.mayHaveHappened
        assert.deepStrictEqual(now, mayBeDone ? state.after : state.before, where)
      }
    })
  )

describe("a store whose n-th statement fails", () => {
  for (const { call, id } of [...everyOperation, ...ownOperations]) {
    it.effect(`S76 ${id} is done or not done`, () => doneOrNot(call, before[id] ?? Effect.void))
  }

  for (const [id, call] of Object.entries(writesOfRun)) {
    it.effect(`S76 ${id} of a run is done and recorded, or neither`, () =>
      doneOrNot(Effect.provideService(call, NamedRun, runId), beginRun)
    )
  }
})

/** What a program leaves, but for its traces and the times of its steps. */
const lastingOf = (state: State) =>
  ["contacts", "credentials", "list_members", "lists"].map((table) =>
    state[table]?.map((row) => row.filter((value) => !Predicate.isNumber(value)))
  )

const people = [
  { email: "ann@example.com", firstName: "Ann" },
  { email: canaryEmail, firstName: "after" }
]

const upload = importContacts(Stream.fromIterable(people))

const programs: Readonly<Record<string, Effect.Effect<unknown, unknown, Needs>>> = {
  importContacts: upload,
  planImport: Effect.scoped(
    Effect.flatMap(planImport(Stream.fromIterable(people)), ({ apply }) => Effect.map(apply, ({ report }) => report))
  ),
  undoRun: Effect.scoped(
    Effect.flatMap(RunLog, ({ list }) =>
      Effect.flatMap(list, (runs) => {
        const id = runs.find(({ header }) => header.command === "import")?.header.id ?? ""
        return undoRun(id)
      })
    )
  ),
  planDelete: Effect.flatMap(
    planDelete(Stream.unwrap(ContactsService.use((contacts) => Effect.succeed(contacts.stream())))),
    ({ apply }) => Effect.map(apply, ({ report }) => report)
  ),
  createWithRetry: CredentialsService.use(({ apiKeys }) =>
    createWithRetry(apiKeys, { name: "ci", accessLevels: ["ViewContacts"] })
  )
}

describe("a program over a store whose n-th statement fails", () => {
  for (const [name, program] of Object.entries(programs)) {
    const setUp = name === "undoRun" ? Effect.andThen(prepare, upload) : prepare
    it.effect(`S76 ${name} comes to its end when it runs again`, () =>
      throughout(
        program,
        setUp,
        ({ exit, state, where }) =>
          Effect.gen(function* () {
            if (tagOf(exit) !== "done") yield* program
            assert.deepStrictEqual(lastingOf(yield* state.now), lastingOf(state.after), where)
          }),
        // A program has some hundred statements.
        longRun ? 1 : 9
      )
    )
  }
})
