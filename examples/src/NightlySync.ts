/**
 * Copies the customers of a CRM into the contacts, each night those that changed since the last whole sync. The table is a
 * service of the application: it may be SQL, a file or another HTTP interface.
 */
import { addAll } from "@roster/workflows"
import { Context, DateTime, Effect, Option, Schedule, Schema, Stream } from "effect"
import { KeyValueStore } from "effect/persistence"

/** A row of the table. */
export interface Customer {
  readonly id: number
  readonly mail: string
  readonly name: string | undefined
  readonly plan: string
}

/** The table of the CRM. */
export class CrmTable extends Context.Service<
  CrmTable,
  { readonly changedSince: (time: DateTime.Utc) => Stream.Stream<Customer> }
>()("@roster/examples/CrmTable") {}

const toContact = ({ mail, name, plan }: Customer) => ({ email: mail, firstName: name, customFields: { plan } })

/** What a sync did. */
export interface SyncReport {
  readonly done: number
  /** The customers that the service refuses, such as those whose address is none. */
  readonly rejected: ReadonlyArray<number>
  /** The customers whose request has no answer, or was not sent. */
  readonly open: ReadonlyArray<number>
}

/** Copies what changed. Only a sync without open customers is noted, so the next one has them again, which does no harm. */
export const sync = Effect.gen(function* () {
  const crm = yield* CrmTable
  const noted = KeyValueStore.toSchemaStore(yield* KeyValueStore.KeyValueStore, Schema.DateTimeUtc)
  const since = Option.getOrElse(yield* noted.get("synced"), () => DateTime.makeUnsafe(0))
  const began = yield* DateTime.now
  const outcomes = yield* addAll(crm.changedSince(since), { toContact, listNames: ["customers"] }).pipe(
    // The outcomes say which customers are open.
    Stream.catchTag("Stopped", () => Stream.empty),
    Stream.runCollect
  )
  const idsOf = (...tags: ReadonlyArray<string>) =>
    outcomes.filter(({ _tag }) => tags.includes(_tag)).map(({ item }) => item.id)
  const report: SyncReport = {
    done: idsOf("Accepted").length,
    rejected: idsOf("Refused"),
    open: idsOf("Unknown", "NotSent")
  }
  if (report.open.length === 0) yield* noted.set("synced", began)
  return report
}).pipe(
  Effect.tap(({ done, open, rejected }) =>
    Effect.logInfo(`${done} customers copied, rejected: ${rejected.join(", ")}, open: ${open.length}`)
  )
)

/** One night: tries again while the service has not answered for all, at most five times. */
export const night = sync.pipe(
  Effect.repeat({ schedule: Schedule.spaced("10 minutes"), until: ({ open }) => open.length === 0, times: 5 })
)

/** The program: a sync at three o'clock each night. */
export const nightly = Effect.schedule(night, Schedule.cron("0 3 * * *", "UTC"))
