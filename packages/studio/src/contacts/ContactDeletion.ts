/** Deletes contacts: those that were shown and counted, and no others, as a run that brings them back. */
import { Contact, ContactsService, maximumLookup } from "@roster/domain"
import { deleteContacts, isMoreThanHalf } from "@roster/workflows"
import { Array as Arrays, Data, Effect, Schema, Stream } from "effect"
import { download } from "../kit/Download.ts"
import { contactsChanged } from "../session/Changes.ts"
import { asRun } from "../session/RecordedWrite.ts"
import { runtime } from "../session/Session.ts"

/** Which contacts are meant: some, or all that a rule selects. */
export type Meant =
  | { readonly _tag: "Chosen"; readonly emails: ReadonlySet<string> }
  | { readonly _tag: "ByRule"; readonly rule: string }

/** Maximum number of contacts that the page deletes at once; it holds them in memory meanwhile. */
export const maximumDeletion = 100_000

/** Maximum number that is deleted without its being typed. */
export const mostByClick = 1000

/** A rule selects more contacts than the page deletes at once. */
export class TooManyToDelete extends Data.TaggedError("TooManyToDelete")<{ readonly rule: string }> {
  override get message(): string {
    return `The rule selects more than ${maximumDeletion.toLocaleString()} contacts, which the page does not delete at once. The command line does, with a backup.`
  }
}

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

const readMeant = Effect.fnUntraced(function* (meant: Meant) {
  const service = yield* ContactsService
  if (meant._tag === "Chosen") {
    return yield* Stream.fromIterable(meant.emails).pipe(
      Stream.grouped(maximumLookup),
      Stream.mapEffect((some) => Effect.map(service.getMany(some), ({ contacts }) => contacts)),
      Stream.flattenIterable,
      Stream.runCollect
    )
  }
  const contacts = yield* Stream.runCollect(Stream.take(service.stream({ rule: meant.rule }), maximumDeletion + 1))
  return contacts.length > maximumDeletion ? yield* new TooManyToDelete({ rule: meant.rule }) : contacts
})

/** Reads the contacts that are meant. */
export const findDoomed = Effect.fnUntraced(function* (meant: Meant) {
  const contacts = yield* readMeant(meant)
  const isSevere =
    contacts.length > mostByClick || (meant._tag === "ByRule" && (yield* isMoreThanHalf(contacts.length)))
  const doomed: Doomed = { contacts, statuses: countStatuses(contacts), isSevere }
  return doomed
})

const encodeContact = Schema.encodeEffect(Schema.fromJsonString(Contact))

/** A backup of contacts, which `roster contacts restore` reads too. */
export const backupOf = Effect.fnUntraced(function* (contacts: ReadonlyArray<Contact>) {
  const parts: Array<string> = []
  for (const some of Arrays.chunksOf(contacts, 500)) {
    parts.push((yield* Effect.forEach(some, (contact) => encodeContact(contact))).join(",\n"))
    // The page answers meanwhile.
    yield* Effect.yieldNow
  }
  return new Blob(["[", parts.join(",\n"), "]\n"], { type: "application/json" })
})

/** Saves contacts as a file, which `roster contacts restore` reads too. */
export const saveContacts = runtime.fn(
  ({ contacts, name }: { readonly name: string; readonly contacts: ReadonlyArray<Contact> }) =>
    Effect.map(backupOf(contacts), (content) => download(name, content))
)

/** Looks which contacts would go. */
export const lookDoomed = runtime.fn(findDoomed)

/** Deletes contacts that were looked at. */
export const deleteDoomed = runtime.fn(
  (contacts: ReadonlyArray<Contact>) =>
    asRun("delete", (recording) =>
      Effect.provideService(deleteContacts(Stream.fromIterable(contacts)), ContactsService, recording)
    ),
  { reactivityKeys: contactsChanged }
)
