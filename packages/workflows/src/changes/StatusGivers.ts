/** Who gave the status that a contact has, so that an undo takes back only what its run or another undo gave. (docs/decisions/runs.md) */
import { canonicalEmail, formatWireDate } from "@roster/domain"
import { Effect, Stream } from "effect"
import type { Found } from "../runs/ContactReader.ts"
import type { RunEntry } from "../runs/RunEntry.ts"
import { type RecordedRun, type Run, RunLog } from "../runs/RunLog.ts"
import type { StatusGiver } from "./UndoStep.ts"

/**
 * By address, who gave the statuses that contacts have: by their dates, of which each stands for one time. The undo holds its own
 * run and the one that it undoes, so that nobody can read them from the log.
 */
export const makeGivers = Effect.fnUntraced(function* (run: RecordedRun, undoing?: Run) {
  const log = yield* RunLog
  const entriesOf = (id: string) =>
    id === run.header.id
      ? Effect.succeed(run.entries)
      : id === undoing?.header.id
        ? Effect.succeed(undoing.earlier)
        : Effect.map(log.read(id), ({ entries }) => entries)
  const own = new Map<string, Set<string>>()
  /** The dates of statuses that an undo brought back, each with that of the status as it was then. */
  const broughtBack = new Map<string, Map<string, string | null>>()
  const each = (entries: RecordedRun["entries"], read: (entry: RunEntry) => void) =>
    Stream.runForEach(entries, (entry) => Effect.sync(() => read(entry)))
  const add = (email: string, date: string) => void own.set(email, (own.get(email) ?? new Set()).add(date))
  yield* each(run.entries, (entry) => {
    if (entry._tag === "StatusesGiven") for (const { email, given } of entry.dates) add(email, given)
  })
  /** Those to whom an undo gave a status that has no date: it added them again, or was killed before it noted the date. */
  const undated = new Set<string>()
  for (const { header } of yield* log.list) {
    if (header.undoes === undefined || header.id < run.header.id) continue
    const both = Effect.all([entriesOf(header.undoes), entriesOf(header.id)])
    const read = Effect.flatMap(both, ([undone, undo]) => {
      const before = new Map<string, string | null>()
      return Effect.andThen(
        each(undone, (entry) => {
          if (entry._tag !== "StatusesGiven") return
          for (const { email, before: date } of entry.dates) if (!before.has(email)) before.set(email, date)
        }),
        each(undo, (entry) => {
          if (entry._tag === "Changes") {
            for (const [email] of entry.created ?? []) undated.add(canonicalEmail(email))
            for (const { email, fields } of entry.changed ?? [])
              if ("Status" in fields) undated.add(canonicalEmail(email))
          }
          if (entry._tag !== "StatusesGiven") return
          for (const { email, given } of entry.dates) {
            undated.delete(email)
            const known = broughtBack.get(email) ?? new Map<string, string | null>()
            broughtBack.set(email, known.set(given, before.get(email) ?? null))
          }
        })
      )
    })
    // Of what goes on elsewhere nobody can tell.
    yield* Effect.catchTags(read, { RunTaken: () => Effect.void, RunNotFound: () => Effect.void })
  }
  return {
    add,
    giverOf: (email: string, { contact }: Found): StatusGiver => {
      const dates = own.get(email)
      if (dates === undefined) return "Untold"
      const seen = new Set<string>()
      let date = contact?.statusChangeDate == null ? null : formatWireDate(contact.statusChangeDate)
      while (date !== null && !seen.has(date)) {
        if (dates.has(date)) return "Run"
        seen.add(date)
        date = broughtBack.get(email)?.get(date) ?? null
      }
      return undated.has(email) ? "Untold" : "Others"
    }
  }
})
