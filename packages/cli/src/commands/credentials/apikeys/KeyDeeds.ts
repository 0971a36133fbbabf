/** What a key did lately, for whoever takes it away. */
import { auditEntries, type WrittenContacts } from "@roster/domain"
import { DateTime, Duration, Effect, Number, Stream, Struct } from "effect"
import { printable } from "../../../terminal/Printable.ts"
import { Output } from "../../../terminal/Output.ts"
import { writtenWords } from "../audit/AuditWords.ts"

/** How far back the summary looks. */
const lately = Duration.days(30)

/** The newest entries that are summed up. */
const maximumEntries = 10_000

const written = Struct.makeReducer<WrittenContacts>({
  added: Number.ReducerSum,
  changed: Number.ReducerSum,
  deleted: Number.ReducerSum,
  gainedMail: Number.ReducerSum,
  lostMail: Number.ReducerSum
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
  const all = written.combineAll(entries.flatMap(({ contacts }) => contacts ?? []))
  const of = (...outcomes: ReadonlyArray<string>) => entries.filter(({ outcome }) => outcomes.includes(outcome)).length
  const runs = entries.filter(({ operation }) => operation === "run").length
  const refusals = entries.length - of("Wrote", "Exported", "Downloaded", "Done")
  yield* note(
    printable(
      `In the last 30 days it ${writtenWords(all)}. Runs: ${runs}, exports: ${of("Exported")}, changes of credentials: ${of("Done")}, ` +
        `refusals: ${refusals}. See: roster audit list --key ${name} --since 30d`
    )
  )
})
