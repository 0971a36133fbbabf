/**
 * Records refused requests in the audit trail: by shares, so that nobody fills it or hides others in it, and in batches,
 * so that a refusal costs no statement. (docs/decisions/access.md)
 */
import { type AuditActor } from "@roster/domain"
import { redactLayerSpans } from "@roster/domain/internal"
import { Array as Arr, Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { clientNetwork } from "../network/IpRanges.ts"
import { processSeconds, storeClock } from "../store/StoreClock.ts"
import { makeQuota } from "../threads/Quota.ts"
import { type AuditEvent, type AuditRow, auditRow, bestEffort } from "./AuditTrail.ts"

/** Entries per hour of one share: the refusals of one key, or of all callers without a key, from one network. */
const entriesPerShare = 100

/** Entries per hour of all keys together, and as many of all callers without one; the first entry of a share is not counted. */
const entriesPerHour = 1000

/** Shares per hour whose first refusal is an entry, so that refusals from many networks do not hide one from another. */
const maximumShares = 1000

/** The time in which refusals are gathered for one write. */
const writeInterval = "1 second"

const rowsPerStatement = 500

/** Entries that wait while the store cannot be written; further ones are lost. */
const maximumWaitingEntries = 10_000

const unwritten = "refusals could not be recorded"

const hour = 60 * 60

/** Makes the function that tells whether a caller still has an entry in this hour. */
const makeShares = () => {
  const first = makeQuota({ own: 1, all: maximumShares })
  const further = makeQuota({ own: entriesPerShare - 1, all: entriesPerHour })
  return (caller: string): boolean => {
    const full = first.take(caller)
    return full === undefined || (full === "own" && further.take(caller) === undefined)
  }
}

interface Hour {
  readonly hasEntry: { readonly [Tag in AuditActor["_tag"]]: (caller: string) => boolean }
  /** Refusals without an entry. */
  further: number
}

const newHour = (): Hour => ({
  hasEntry: { Unknown: makeShares(), Key: makeShares(), Owner: makeShares() },
  further: 0
})

/** The share of a caller. Its account is the one that the request asked for. */
const callerOf = ({ actor, peer }: AuditEvent): string =>
  JSON.stringify([peer === undefined ? undefined : clientNetwork(peer), actor])

/** Records refused requests. */
export class AuditRefusals extends Context.Service<
  AuditRefusals,
  {
    /** Records a refusal by its tag. It is written with others within a second. */
    readonly record: (event: AuditEvent, outcome: string) => Effect.Effect<void>
  }
>()("@roster/server/AuditRefusals") {}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const waiting: Array<AuditRow> = []
  let current = newHour()
  let began = 0
  /** Open while there is anything to write now or at the end of the hour, so that an idle service sets no timer. */
  const refused = yield* Latch.make(false)

  const wait = (event: AuditEvent, outcome: string, time: number) => {
    if (waiting.length < maximumWaitingEntries) waiting.push(auditRow(event, outcome, time))
  }

  /** Gives new shares, and sums up the refusals that had no entry. */
  const endHour = (now: number) => {
    const { further: count } = current
    if (count > 0) {
      const rest: AuditEvent = {
        actor: { _tag: "Unknown" },
        account: "",
        peer: undefined,
        operation: "anyOperation",
        details: { count }
      }
      wait(rest, "FurtherRefusals", Math.min(now, began + hour - 1))
    }
    current = newHour()
    began = now - (now % hour)
  }

  const beginHour = (now: number) => {
    if (now < began || now >= began + hour) endHour(now)
  }

  const record: AuditRefusals["Service"]["record"] = (event, outcome) =>
    Effect.map(processSeconds, (now) => {
      refused.openUnsafe()
      beginHour(now)
      if (current.hasEntry[event.actor._tag](callerOf(event))) wait(event, outcome, now)
      else current.further++
    })

  const writeSome = Effect.suspend(() => {
    const rows: ReadonlyArray<AuditRow> = waiting.splice(0, rowsPerStatement)
    if (!Arr.isReadonlyArrayNonEmpty(rows)) return Effect.void
    return storeClock(sql).skew.pipe(
      // Their times are of this process, since a refusal asks the store nothing.
      Effect.map((skew) => Arr.map(rows, (row) => ({ ...row, time: row.time - skew }))),
      Effect.flatMap((entries) => sql`INSERT INTO audit_entries ${sql.insert(entries)}`),
      Effect.asVoid,
      Effect.onError(() => Effect.sync(() => waiting.unshift(...rows)))
    )
  })

  const closeIfIdle = Effect.sync(() => {
    if (waiting.length === 0 && current.further === 0) refused.closeUnsafe()
  })

  // Not in a transaction, which could not time out on a lock.
  const write = Effect.repeat(writeSome, { while: () => waiting.length > 0 })

  yield* Effect.addFinalizer(() =>
    Effect.map(processSeconds, endHour).pipe(
      Effect.andThen(write),
      Effect.catchCause(() => Effect.logWarning(unwritten))
    )
  )
  yield* Effect.map(processSeconds, beginHour).pipe(
    Effect.andThen(write),
    bestEffort(unwritten),
    Effect.delay(writeInterval),
    Effect.andThen(closeIfIdle),
    (written) => Effect.andThen(refused.await, written),
    Effect.forever,
    Effect.forkScoped
  )
  return AuditRefusals.of({ record })
})

/** Provides the recording of refusals on the database of a store. What waits is written when the layer is closed. */
export const layer: Layer.Layer<AuditRefusals, never, SqlClient.SqlClient> = redactLayerSpans(
  Layer.effect(AuditRefusals, make)
)
