/** The history of a contact as a stream of its pages, and what its entries say to people. (docs/decisions/history.md) */
import { type ContactHistory, ContactsService, type HistoryEntry } from "@roster/domain"
import { Effect, Option, Stream } from "effect"

/** The entries that are asked for together. */
const entriesAtOnce = 100

/** The pages of the history of a contact, the newest entries first. There is at least one page. */
export const historyPages = (email: string) =>
  Stream.paginate(undefined as string | undefined, (cursor) =>
    ContactsService.use((contacts) =>
      Effect.map(contacts.history(email, { limit: entriesAtOnce, cursor }), (page) => [
        [page],
        Option.fromNullOr(page.next)
      ])
    )
  )

/** A part of the history of a contact. */
export interface ShownHistory {
  /** Whether the contact is there now. */
  readonly exists: boolean
  /** The newest entries. */
  readonly entries: ReadonlyArray<HistoryEntry>
  /** Whether there are older entries. */
  readonly hasMore: boolean
}

/** The newest entries of the history of a contact, up to a number. */
export const newestHistory = Effect.fnUntraced(function* (email: string, most: number) {
  let exists = false
  const entries: Array<HistoryEntry> = []
  yield* Stream.runForEachWhile(historyPages(email), (page: ContactHistory) => {
    exists = page.exists
    entries.push(...page.entries)
    return Effect.succeed(entries.length <= most)
  })
  const shown: ShownHistory = { exists, entries: entries.slice(0, most), hasMore: entries.length > most }
  return shown
})

const effects: Readonly<Record<HistoryEntry["effect"], string>> = {
  Created: "added",
  Changed: "changed",
  Deleted: "deleted"
}

const customField = /^(?:CustomFields|Consent)\./
const list = /^Lists\./

/** What an entry did, such as "changed". */
export const historyEffect = ({ effect }: HistoryEntry): string => effects[effect]

/** What an entry did it by: the run and what that was of, how the contact came in, or nothing that is known. */
export const historyBy = ({ about, command, run, source, undoes }: HistoryEntry): string => {
  if (command !== undefined) {
    return `${command}${about === undefined ? (undoes === undefined ? "" : ` of ${undoes}`) : ` of ${about}`}`
  }
  return run === null ? (source ?? "") : `run ${run}`
}

/** The changes of an entry in words: `Status: Active -> Unsubscribed`, `on list news`. */
export const historyWords = ({ effect, fields }: HistoryEntry): ReadonlyArray<string> =>
  Object.entries(fields).map(([field, [before, after]]) => {
    if (list.test(field)) return `${after === null ? "off" : "on"} list ${field.replace(list, "")}`
    const name = field.replace(customField, "")
    return effect === "Deleted"
      ? `${name} was ${before ?? "none"}`
      : `${name}: ${before ?? "none"} -> ${after ?? "none"}`
  })
