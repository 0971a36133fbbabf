/** Who gave the status that a contact has, so that an undo takes back only what its run or another undo gave. (docs/decisions/runs.md) */
import { canonicalEmail, type StatusDate } from "@roster/domain"
import { ContactStates, isTimeOfAdding, statusTime, strictnessOf } from "@roster/domain/internal"
import { Effect, Stream } from "effect"
import type { Found } from "../runs/ContactReader.ts"
import type { RunEntry } from "../runs/RunEntry.ts"
import { type RecordedRun, type Run } from "../runs/RecordedRun.ts"
import { RunLog } from "../runs/RunLog.ts"
import type { StatusGiver } from "./UndoStep.ts"

/** A status that an undo brought back, by its time and by that of the status as it was then. */
interface BroughtBack {
  readonly email: string
  readonly given: string
  readonly undo: string
  readonly before: string | null
  readonly undone: string
}

/**
 * By address, who gave the statuses that contacts have, by their times. The undo holds its own run and the one that it undoes, so
 * that nobody can read them from the log.
 */
export const makeGivers = Effect.fnUntraced(function* (run: RecordedRun, undoing?: Run) {
  const log = yield* RunLog
  const entriesOf = (id: string) =>
    id === run.header.id
      ? Effect.succeed(run.entries)
      : id === undoing?.header.id
        ? Effect.succeed(undoing.earlier)
        : Effect.map(log.read(id), ({ entries }) => entries)
  const each = (entries: RecordedRun["entries"], read: (entry: RunEntry) => void) =>
    Stream.runForEach(entries, (entry) => Effect.sync(() => read(entry)))

  const all = yield* log.list
  const places = new Map(all.map(({ header }, place) => [header.id, place]))
  /** The place of a run among all, the newest first. One that is in no list yet is the newest. */
  const placeOf = (id: string) => places.get(id) ?? -1

  /** The undos that added a contact again. Each time it has lost its dates, and those of before may come again. */
  const comebacks = new Map<string, Array<string>>()
  const comesBack = (email: string, undo: string) =>
    void comebacks.set(email, [...(comebacks.get(email) ?? []).filter((id) => id !== undo), undo])
  /** A time of a contact as it was when a run ended, or as it is now. */
  const keyOf = (email: string, time: string, id?: string) =>
    `${(comebacks.get(email) ?? []).filter((undo) => id === undefined || placeOf(undo) >= placeOf(id)).length} ${time}`

  const own = new Map<string, Set<string>>()
  const add = (email: string, key: string) => void own.set(email, (own.get(email) ?? new Set()).add(key))
  const broughtBack: Array<BroughtBack> = []
  /** Those to whom an undo gave a status without noting its time: the service did not tell it, or the undo was killed before. */
  const undated = new Set<string>()
  for (const { header } of all) {
    const { id: undo, undoes: undone } = header
    if (undone === undefined || placeOf(undo) > placeOf(run.header.id)) continue
    const read = Effect.flatMap(Effect.all([entriesOf(undone), entriesOf(undo)]), ([of, by]) => {
      const replaced = new Map<string, string | null>()
      const deleted = new Map<string, string | null>()
      return Effect.andThen(
        each(of, (entry) => {
          if (entry._tag === "Changes") {
            for (const state of entry.deleted ?? [])
              if (strictnessOf(state["Status"]) > 0) deleted.set(canonicalEmail(ContactStates.emailOf(state)), null)
          }
          if (entry._tag !== "StatusesGiven") return
          for (const { before, email, given } of entry.dates) {
            if (given === null) deleted.set(email, before)
            else if (!replaced.has(email)) replaced.set(email, before)
          }
        }),
        each(by, (entry) => {
          if (entry._tag === "Changes") {
            for (const email of (entry.created ?? []).map(([email]) => canonicalEmail(email))) {
              comesBack(email, undo)
              if (deleted.has(email)) undated.add(email)
            }
            for (const { email, fields } of entry.changed ?? [])
              if ("Status" in fields) undated.add(canonicalEmail(email))
          }
          if (entry._tag !== "StatusesGiven") return
          for (const { email, given } of entry.dates) {
            if (given === null) continue
            undated.delete(email)
            const before = (isTimeOfAdding(given) ? deleted : replaced).get(email) ?? null
            broughtBack.push({ email, given, undo, before, undone })
          }
        })
      )
    })
    // Of what goes on elsewhere nobody can tell.
    yield* Effect.catchTags(read, { RunTaken: () => Effect.void, RunNotFound: () => Effect.void })
  }
  const earlier = new Map<string, Map<string, string>>()
  for (const { before, email, given, undo, undone } of broughtBack) {
    if (before === null) continue
    const keys = earlier.get(email) ?? new Map<string, string>()
    earlier.set(email, keys.set(keyOf(email, given, undo), keyOf(email, before, undone)))
  }
  yield* each(run.entries, (entry) => {
    if (entry._tag !== "StatusesGiven") return
    for (const { email, given } of entry.dates) if (given !== null) add(email, keyOf(email, given, run.header.id))
  })
  return {
    /** Notes a status that the undo gives itself. */
    note: ({ email, given }: StatusDate & { readonly email: string }): void => {
      if (given === null || undoing === undefined) return
      if (isTimeOfAdding(given)) comesBack(email, undoing.header.id)
      add(email, keyOf(email, given))
    },
    giverOf: (email: string, { contact }: Found): StatusGiver => {
      const keys = own.get(email)
      if (keys === undefined) return "Untold"
      const time = contact && statusTime(contact)
      const seen = new Set<string>()
      let key = time === null ? undefined : keyOf(email, time)
      while (key !== undefined && !seen.has(key)) {
        if (keys.has(key)) return "Run"
        seen.add(key)
        key = earlier.get(email)?.get(key)
      }
      return undated.has(email) ? "Untold" : "Others"
    }
  }
})
