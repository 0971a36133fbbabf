/** `RunsService` on the database of a store. (docs/decisions/runs.md) */
import {
  AccessDenied,
  BegunRun,
  type EndOfRun,
  ErasedNumbers,
  type KeyedCall,
  NamedRun,
  type RunChangesPage,
  RunPayload,
  RunsService,
  type RunsPage,
  RunTaken,
  ServiceError,
  checkedMethods
} from "@roster/domain"
import { checkRunPage, checkRunsPage, checkStep, fnRedacted, validated } from "@roster/domain/internal"
import { DateTime, Effect, Layer } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { Caller, mayViewContacts } from "../credentials/Caller.ts"
import { asCaller, checkCaller } from "../credentials/CallerCheck.ts"
import { asItWas, keyedCalls } from "../credentials/KeyedCalls.ts"
import { eraseChanges, readChanges } from "../runs/ChangeRows.ts"
import { keepWithinBounds, openRun } from "../runs/RunRecorder.ts"
import {
  findRun,
  isOver,
  isOwnRun,
  isTaken,
  keptSeconds,
  leaseSeconds,
  runColumns,
  type RunRow,
  runsOf,
  toRun
} from "../runs/RunRow.ts"
import { encoded } from "../store/AnswerEncoding.ts"
import { makeLease } from "../store/ProcessMark.ts"
import { defaultPage } from "../store/Rows.ts"
import { dialect } from "../store/SqlDialect.ts"
import { fromSeconds, storeClock } from "../store/StoreClock.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"

const readPayload = validated(RunPayload)
const readErased = validated(ErasedNumbers)

/** Tells what a run works on from all else; `null` if it is like no other. */
const workOf = ({ command, input, undoes }: RunPayload): string | null =>
  input === undefined && undoes === undefined
    ? null
    : createHash("sha256")
        .update(JSON.stringify([command, input ?? null, undoes ?? null]))
        .digest("hex")

const denied = (operation: string) =>
  new ServiceError({ operation, reason: new AccessDenied({ required: "ViewContacts" }) })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inStore = Effect.provideService(SqlClient.SqlClient, sql)

  const endRow = Effect.fnUntraced(function* ({ number }: RunRow, now: number) {
    yield* sql`UPDATE runs SET ended = ${now}, goes = ${now + keptSeconds} WHERE number = ${number} AND ended IS NULL`
  })

  /** Ends a run that is to be undone, if nobody is at work on it any more. */
  const endForUndo = Effect.fnUntraced(function* (account: string, id: string, now: number) {
    const row = yield* findRun(account, id, true)
    if (isTaken(row, now)) return yield* new RunTaken({ run: id })
    yield* endRow(row, now)
  })

  const beginRun = Effect.fnUntraced(function* (given: RunPayload) {
    const caller = yield* Caller
    const { account, key } = caller
    const now = yield* storeClock(sql).seconds
    yield* dialect(sql).lockAccounts([account])
    const { about, command, input, resume = true, undoes } = given
    // Only the owner calls without a key, from the process that has the store in itself.
    const holder = key === undefined ? yield* makeLease : null
    if (undoes !== undefined) yield* endForUndo(account, undoes, now)
    const work = workOf(given)
    if (work !== null) {
      const rows = yield* sql<RunRow>`
        SELECT ${runColumns(sql)} FROM ${runsOf(sql, account, now)} AND work = ${work} AND NOT (${isOver(sql)})
        ORDER BY number DESC ${dialect(sql).locked}`
      for (const row of rows) {
        if (isTaken(row, now)) return yield* new RunTaken({ run: row.id })
        if (resume && isOwnRun(row, caller)) {
          const lease = now + leaseSeconds
          yield* sql`
            UPDATE runs SET lease = ${lease}, holder = ${holder}, goes = ${lease + keptSeconds} WHERE number = ${row.number}`
          return yield* encoded<BegunRun>({ ...toRun({ ...row, lease }, now), isResumed: true })
        }
        yield* endRow(row, now)
      }
    }
    yield* keepWithinBounds(account, now)
    const time = DateTime.formatIso(fromSeconds(now)).replaceAll(/[-:]|\.\d+/g, "")
    const lease = now + leaseSeconds
    const [row] = yield* sql<RunRow>`
      INSERT INTO runs ${sql.insert({
        account,
        id: `${time}-${(yield* WebCrypto).randomUUID().slice(0, 8)}`,
        command,
        about: about ?? null,
        input: input === undefined ? null : createHash("sha256").update(input).digest("hex"),
        work,
        undoes: undoes ?? null,
        key_id: key?.id ?? null,
        key_name: key?.name ?? null,
        began: now,
        lease,
        holder,
        goes: lease + keptSeconds
      })} RETURNING ${runColumns(sql)}`
    if (row === undefined) return yield* Effect.die(new Error("an insert gave no row"))
    return yield* encoded<BegunRun>({ ...toRun(row, now), isResumed: false })
  })

  const beginOnce = keyedCalls(sql, "runsPost", RunPayload, asItWas(BegunRun))

  const begin = fnRedacted("RunsService.begin")(
    function* (given: RunPayload, options: KeyedCall = {}) {
      const payload = yield* readPayload(given)
      if (payload.undoes !== undefined && !mayViewContacts(yield* Caller)) return yield* denied("runsPost")
      return yield* beginOnce(options, () => payload, asCaller(sql, "runsPost", beginRun(payload)))
    },
    inStore,
    orStoreFailure("runsPost")
  )

  const end = fnRedacted("RunsService.end")(
    function* (id: string, { resumable = false }: EndOfRun = {}) {
      const caller = yield* Caller
      const ending = Effect.gen(function* () {
        const row = yield* findRun(caller.account, id, true)
        const now = yield* storeClock(sql).seconds
        if (!isOwnRun(row, caller)) {
          yield* checkCaller(sql, "runsByIdEndPost", "ViewContacts")
          if (isTaken(row, now)) return yield* new RunTaken({ run: id })
        }
        yield* resumable
          ? sql`UPDATE runs SET lease = ${now} WHERE number = ${row.number} AND ended IS NULL`
          : endRow(row, now)
      })
      yield* asCaller(sql, "runsByIdEndPost", ending)
    },
    inStore,
    orStoreFailure("runsByIdEndPost")
  )

  const step = fnRedacted("RunsService.step")(
    function* (id: string, state: string) {
      yield* checkStep(state)
      const stepping = Effect.gen(function* () {
        const { account } = yield* Caller
        yield* findRun(account, id, true)
        const run = yield* Effect.provideService(openRun, NamedRun, id)
        yield* sql`UPDATE runs SET step = ${state} WHERE number = ${run?.number ?? 0}`
      })
      yield* asCaller(sql, "runsByIdStepPost", stepping)
    },
    inStore,
    orStoreFailure("runsByIdStepPost")
  )

  const list = fnRedacted("RunsService.list")(
    function* ({ before, limit = defaultPage }: RunsPage = {}) {
      const { account } = yield* Caller
      yield* checkRunsPage({ limit })
      const now = yield* storeClock(sql).seconds
      const last = before === undefined ? sql`1 = 1` : sql`number < ${(yield* findRun(account, before)).number}`
      const rows = yield* sql<RunRow>`
        SELECT ${runColumns(sql)} FROM ${runsOf(sql, account, now)} AND ${last} ORDER BY number DESC LIMIT ${limit}`
      return rows.map((row) => toRun(row, now))
    },
    inStore,
    orStoreFailure("runsGet")
  )

  const get = fnRedacted("RunsService.get")(
    function* (id: string) {
      const { account } = yield* Caller
      const row = yield* findRun(account, id)
      return toRun(row, yield* storeClock(sql).seconds)
    },
    inStore,
    orStoreFailure("runsByIdGet")
  )

  const changes = fnRedacted("RunsService.changes")(
    function* (id: string, page: RunChangesPage = {}) {
      const { account } = yield* Caller
      yield* checkRunPage(page)
      const { number } = yield* findRun(account, id)
      return yield* readChanges(number, page)
    },
    inStore,
    orStoreFailure("runsByIdChangesGet")
  )

  const erase = fnRedacted("RunsService.erase")(
    function* (id: string, given: ReadonlyArray<number>) {
      const { account } = yield* Caller
      const { numbers } = yield* readErased({ numbers: given })
      const erasing = Effect.gen(function* () {
        yield* checkCaller(sql, "runsByIdErasePost", "ViewContacts")
        const { number: run } = yield* findRun(account, id, true)
        const less = yield* eraseChanges(run, numbers)
        yield* sql`UPDATE runs SET bytes = bytes - ${less} WHERE number = ${run}`
      })
      yield* asCaller(sql, "runsByIdErasePost", erasing)
    },
    inStore,
    orStoreFailure("runsByIdErasePost")
  )

  return checkedMethods(RunsService, {
    areKept: Effect.succeed(true),
    begin,
    end,
    step,
    list,
    get,
    changes,
    erase
  })
})

/** Provides `RunsService` on the database of a store. */
export const layer: Layer.Layer<RunsService, never, SqlClient.SqlClient> = Layer.effect(RunsService, make)
