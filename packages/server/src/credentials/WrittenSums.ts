/**
 * Sums in the audit trail what keys write without a run, by key and hour: in memory, off the path of a request, and once a minute into
 * the store. A killed process loses its last minute. (docs/decisions/access.md)
 */
import { isMailedStatus, NamedRun } from "@roster/domain"
import { redactLayerSpans } from "@roster/domain/internal"
import { Effect, Layer, Number, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { processSeconds, storeClock } from "../store/StoreClock.ts"
import { Caller, type CallerKey } from "./Caller.ts"

/** How many contacts a write added, changed and deleted, and how many of the changed gained or lost mail. */
export interface Written {
  readonly created: number
  readonly changed: number
  readonly deleted: number
  readonly gained: number
  readonly lost: number
}

/** The time in which writes are gathered for one write of sums. */
const writeInterval = "1 minute"

/** The sums that wait; further ones are lost. */
const maximumWaiting = 10_000

const hour = 60 * 60

/** A key as the audit trail names it, in an account. */
interface Writer extends Pick<CallerKey, "name" | "hint"> {
  readonly account: string
}

interface Sum extends Writer {
  readonly time: number
  readonly written: Written
}

const { combine: added } = Struct.makeReducer<Written>({
  created: Number.ReducerSum,
  changed: Number.ReducerSum,
  deleted: Number.ReducerSum,
  gained: Number.ReducerSum,
  lost: Number.ReducerSum
})

/** Whether a change of status gives mail to a contact, or takes it. */
export const mailOf = (before: unknown, after: unknown): Pick<Written, "gained" | "lost"> => {
  const [was, is] = [isMailedStatus(before), isMailedStatus(after)]
  return { gained: !was && is ? 1 : 0, lost: was && !is ? 1 : 0 }
}

/** Adds to the sum of a key and the hour of a time, in seconds. */
export const addToHour = Effect.fnUntraced(function* ({ account, hint, name, time, written }: Sum) {
  const sql = yield* SqlClient.SqlClient
  const row = {
    time: time - (time % hour),
    account,
    actor: "Key",
    actor_name: name,
    actor_hint: hint,
    operation: "writes",
    outcome: "Wrote",
    details: "{}",
    ...written
  }
  yield* sql`
    INSERT INTO audit_entries ${sql.insert(row)}
    ON CONFLICT (account, actor_name, actor_hint, time) WHERE outcome = 'Wrote' AND subject IS NULL
    DO UPDATE SET created = audit_entries.created + excluded.created, changed = audit_entries.changed + excluded.changed,
      deleted = audit_entries.deleted + excluded.deleted, gained = audit_entries.gained + excluded.gained,
      lost = audit_entries.lost + excluded.lost`
})

interface Waiting {
  readonly sums: Map<string, Sum>
  /** Writes the sums in a minute, so that an idle service sets no timer. */
  readonly later: Effect.Effect<void>
}

/** The sums of each store that is served, by its client. */
const waitingOf = new WeakMap<SqlClient.SqlClient, Waiting>()

const isNothing = ({ changed, created, deleted }: Written): boolean => created + changed + deleted === 0

/** Notes, once the transaction around it commits, what a call wrote that names no run. The owner of the store needs no trail. */
export const noteWritten = Effect.fnUntraced(function* (written: Written) {
  const { account, key } = yield* Caller
  if (key === undefined || isNothing(written) || (yield* NamedRun) !== undefined) return
  const sql = yield* SqlClient.SqlClient
  const note = Effect.flatMap(processSeconds, (now) => {
    const waiting = waitingOf.get(sql)
    if (waiting === undefined) return Effect.void
    const time = now - (now % hour)
    const of = JSON.stringify([account, key.name, key.hint, time])
    const before = waiting.sums.get(of)
    if (before === undefined && waiting.sums.size >= maximumWaiting) return Effect.void
    const sum = before === undefined ? written : added(before.written, written)
    waiting.sums.set(of, { account, name: key.name, hint: key.hint, time: now, written: sum })
    return waiting.later
  })
  yield* sql.afterCommit(note)
})

const unwritten = "what keys wrote could not be summed in the audit trail"

/** Writes the sums of a store once a minute, and when the layer is closed. */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = redactLayerSpans(
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const scope = yield* Effect.scope
      const sums = new Map<string, Sum>()
      const writeOne = Effect.suspend(() => {
        const [first] = sums
        if (first === undefined) return Effect.void
        const [of, sum] = first
        sums.delete(of)
        return Effect.flatMap(storeClock(sql).skew, (skew) => addToHour({ ...sum, time: sum.time - skew })).pipe(
          Effect.provideService(SqlClient.SqlClient, sql),
          Effect.onError(() =>
            Effect.sync(() => {
              const since = sums.get(of)
              sums.set(of, since === undefined ? sum : { ...sum, written: added(sum.written, since.written) })
            })
          )
        )
      })
      const write = Effect.repeat(writeOne, { while: () => sums.size > 0 }).pipe(
        Effect.catchCause(() => Effect.logWarning(unwritten))
      )
      yield* Effect.addFinalizer(() =>
        Effect.andThen(
          write,
          Effect.sync(() => waitingOf.delete(sql))
        )
      )
      let isAwaited = false
      const soon = Effect.sync(() => (isAwaited = false)).pipe(Effect.andThen(write), Effect.delay(writeInterval))
      const later = Effect.suspend(() => {
        if (isAwaited) return Effect.void
        isAwaited = true
        return Effect.asVoid(Effect.forkIn(soon, scope))
      })
      waitingOf.set(sql, { sums, later })
    })
  )
)
