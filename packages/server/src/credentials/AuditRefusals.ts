/**
 * Records refused requests in the audit trail: by shares, so that nobody fills it or hides others in it, and in batches,
 * so that a refusal costs no statement. (docs/decisions/access.md)
 */
import { redactLayerSpans } from "@roster/domain"
import { Array as Arr, Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { clientNetwork } from "../network/IpRanges.ts"
import { nowSeconds } from "../store/Timestamps.ts"
import type { AuditActor } from "./AuditEntry.ts"
import { type AuditEvent, type AuditRow, auditRow, bestEffort } from "./AuditTrail.ts"

/** Entries per hour for the refusals of one share: of one key, or of all callers without one, from one network. */
const entriesPerShare = 100

/**
 * Entries per hour for the refusals of all keys, and as many for those of callers without one. From then on each share
 * has one entry, so that many networks do not hide another.
 */
const entriesPerHour = 1000

/** Shares per hour, of keys and of callers without one; the refusals of further ones are only counted. */
const maximumShares = 1000

/** The time in which refusals are gathered for one write. */
const writeInterval = "1 second"

const rowsPerStatement = 500

/** Entries that wait while the store cannot be written; further ones are lost. */
const maximumWaitingEntries = 10_000

const unwritten = "refusals could not be recorded"

const hour = 60 * 60

interface Share {
  /** Whose refusals they are; the address is that of the network. */
  readonly of: Pick<AuditEvent, "account" | "actor" | "peer">
  entries: number
  /** Refusals without an entry. */
  further: number
}

interface Shares {
  readonly byCaller: Map<string, Share>
  /** Of the callers that came when all shares were given. */
  readonly others: Share
  entries: number
}

const newShare = (of: Share["of"]): Share => ({ of, entries: 0, further: 0 })

const newShares = (): Shares => ({
  byCaller: new Map(),
  others: newShare({ account: "", actor: { _tag: "Unknown" }, peer: undefined }),
  entries: 0
})

const newHour = (): { readonly [Tag in AuditActor["_tag"]]: Shares } => ({
  Unknown: newShares(),
  Key: newShares(),
  Owner: newShares()
})

const shareOf = ({ byCaller, others }: Shares, { account, actor, peer }: AuditEvent): Share => {
  const network = peer === undefined ? undefined : clientNetwork(peer)
  // The account is the one that the request asked for.
  const caller = JSON.stringify([network, actor])
  const known = byCaller.get(caller)
  if (known !== undefined) return known
  if (byCaller.size >= maximumShares) return others
  const share = newShare({ account, actor, peer: network })
  byCaller.set(caller, share)
  return share
}

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
  let shares = newHour()
  let began = 0
  /** Open while there is anything to write now or at the end of the hour, so that an idle service sets no timer. */
  const refused = yield* Latch.make(false)

  const wait = (event: AuditEvent, outcome: string, time: number) => {
    if (waiting.length < maximumWaitingEntries) waiting.push(auditRow(event, outcome, time))
  }

  /** Gives new shares, and sums up the refusals that had no entry. */
  const endHour = (now: number) => {
    const time = Math.min(now, began + hour - 1)
    for (const { byCaller, others } of Object.values(shares)) {
      for (const { further: count, of } of [...byCaller.values(), others]) {
        if (count > 0) wait({ ...of, operation: "anyOperation", details: { count } }, "FurtherRefusals", time)
      }
    }
    shares = newHour()
    began = now - (now % hour)
  }

  const beginHour = (now: number) => {
    if (now < began || now >= began + hour) endHour(now)
  }

  const record: AuditRefusals["Service"]["record"] = (event, outcome) =>
    Effect.map(nowSeconds, (now) => {
      refused.openUnsafe()
      beginHour(now)
      const kind = shares[event.actor._tag]
      const share = shareOf(kind, event)
      const limit = share === kind.others ? 0 : kind.entries < entriesPerHour ? entriesPerShare : 1
      if (share.entries >= limit) {
        share.further++
        return
      }
      share.entries++
      kind.entries++
      wait(event, outcome, now)
    })

  const writeSome = Effect.suspend(() => {
    const rows: ReadonlyArray<AuditRow> = waiting.splice(0, rowsPerStatement)
    return Arr.isReadonlyArrayNonEmpty(rows)
      ? Effect.asVoid(sql`INSERT INTO audit_entries ${sql.insert(rows)}`).pipe(
          Effect.onError(() => Effect.sync(() => waiting.unshift(...rows)))
        )
      : Effect.void
  })

  const closeIfIdle = Effect.sync(() => {
    if (waiting.length === 0 && Object.values(shares).every(({ byCaller }) => byCaller.size === 0))
      refused.closeUnsafe()
  })

  // Not in a transaction, which could not time out on a lock.
  const write = Effect.repeat(writeSome, { while: () => waiting.length > 0 })

  yield* Effect.addFinalizer(() =>
    Effect.map(nowSeconds, endHour).pipe(
      Effect.andThen(write),
      Effect.catchCause(() => Effect.logWarning(unwritten))
    )
  )
  yield* Effect.map(nowSeconds, beginHour).pipe(
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
