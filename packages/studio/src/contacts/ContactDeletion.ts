/** Deletes contacts: those that were shown and counted, and no others, as a run that brings them back. */
import { Contact } from "@roster/domain"
import { isMoreThanHalf, planDelete } from "@roster/workflows"
import { Array as Arrays, Effect, Schema, Stream } from "effect"
import { download } from "../kit/Download.ts"
import { contactsChanged } from "../session/Changes.ts"
import { about } from "../session/RecordedWrite.ts"
import { runtime } from "../session/Session.ts"
import { type Meant, mostByClick, readMeant } from "./ContactSelection.ts"

/** The contacts that would go, which were read now. */
export interface Doomed {
  readonly contacts: ReadonlyArray<Contact>
  /** How many have each status. */
  readonly statuses: ReadonlyArray<readonly [status: string, count: number]>
  /** Whether their number has to be typed. */
  readonly isSevere: boolean
}

const countStatuses = (contacts: ReadonlyArray<Contact>): Doomed["statuses"] => {
  const counts = new Map<string, number>()
  for (const { status = "without a status" } of contacts) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)
}

/** Reads the contacts that would go. */
export const findDoomed = Effect.fnUntraced(function* (meant: Meant) {
  const contacts = yield* readMeant(meant)
  const isSevere =
    contacts.length > mostByClick || (meant._tag === "ByRule" && (yield* isMoreThanHalf(contacts.length)))
  const doomed: Doomed = { contacts, statuses: countStatuses(contacts), isSevere }
  return doomed
})

const encodeContact = Schema.encodeEffect(Schema.fromJsonString(Contact))

/** A backup of contacts, which `roster contacts import` reads too. */
export const backupOf = Effect.fnUntraced(function* (contacts: ReadonlyArray<Contact>) {
  const parts: Array<string> = []
  for (const some of Arrays.chunksOf(contacts, 500)) {
    parts.push((yield* Effect.forEach(some, (contact) => encodeContact(contact))).join(",\n"))
    // The page answers meanwhile.
    yield* Effect.yieldNow
  }
  return new Blob(["[", parts.join(",\n"), "]\n"], { type: "application/json" })
})

/** Saves contacts as a file, which `roster contacts import` reads too. */
export const saveContacts = runtime.fn(
  ({ contacts, name }: { readonly name: string; readonly contacts: ReadonlyArray<Contact> }) =>
    Effect.map(backupOf(contacts), (content) => download(name, content))
)

/** Looks which contacts would go. */
export const lookDoomed = runtime.fn(findDoomed)

/** Deletes contacts that were looked at, as they were then, by a plan. */
export const deleteDoomed = runtime.fn(
  Effect.fnUntraced(function* (contacts: ReadonlyArray<Contact>) {
    const plan = yield* planDelete(Stream.fromIterable(contacts))
    const { report } = yield* about(contacts.map(({ email }) => email))(plan.applyWith({ command: "delete" }))
    return report
  }),
  { reactivityKeys: contactsChanged }
)
