/** What a key did lately, for whoever takes it away. */
import { auditEntries, type WrittenContacts } from "@roster/domain"
import { DateTime, Duration, Effect, Stream } from "effect"
import { printable } from "../../../terminal/Printable.ts"
import { Output } from "../../../terminal/Output.ts"
import { writtenWords } from "../audit/AuditWords.ts"

/** How far back the summary looks. */
const lately = Duration.days(30)

/** The newest entries that are summed up. */
const maximumEntries = 10_000

const nothing: WrittenContacts = { added: 0, changed: 0, deleted: 0, gainedMail: 0, lostMail: 0 }

const added = (one: WrittenContacts, other: WrittenContacts): WrittenContacts => ({
  added: one.added + other.added,
  changed: one.changed + other.changed,
  deleted: one.deleted + other.deleted,
  gainedMail: one.gainedMail + other.gainedMail,
  lostMail: one.lostMail + other.lostMail
})

/** Notes what was done with a key in the last 30 days, if the service tells it and the caller may know it. */
export const noteDeeds = Effect.fnUntraced(function* (name: string, subaccount: string | undefined) {
  const since = DateTime.subtractDuration(yield* DateTime.now, lately)
  const entries = yield* Stream.runCollect(auditEntries({ key: name, since, subaccount, limit: maximumEntries })).pipe(
    Effect.catchTags({ ServiceError: () => Effect.undefined, InvalidInput: () => Effect.undefined })
  )
  if (entries === undefined) return
  const { note } = yield* Output
  if (entries.length === 0) return yield* note("In the last 30 days it changed nothing.")
  const written = entries.reduce((sum, { contacts = nothing }) => added(sum, contacts), nothing)
  const of = (...outcomes: ReadonlyArray<string>) => entries.filter(({ outcome }) => outcomes.includes(outcome)).length
  const [runs, exports, changes] = [
    entries.filter(({ operation }) => operation === "run").length,
    of("Exported"),
    of("Done")
  ]
  const refusals = entries.length - of("Wrote", "Exported", "Downloaded", "Done")
  yield* note(
    printable(
      `In the last 30 days it ${writtenWords(written)}. Runs: ${runs}, exports: ${exports}, changes of credentials: ${changes}, ` +
        `refusals: ${refusals}. See: roster audit list --key ${name} --since 30d`
    )
  )
})
