/** What somebody changes of a contact, or a contact that somebody adds: only that is sent, as a run that can be undone. */
import {
  type Contact,
  ContactsService,
  type ContactStatus,
  type ContactUpdatePayload,
  type EmailAddress
} from "@roster/domain"
import { changeStatus } from "@roster/workflows"
import { Data, Effect } from "effect"
import { contactsChanged } from "../session/Changes.ts"
import { asRun } from "../session/RecordedWrite.ts"
import { runtime } from "../session/Session.ts"

/** The fields as they stand in the form. */
export interface Edited {
  readonly firstName: string
  readonly lastName: string
  readonly custom: ReadonlyArray<{
    readonly name: string
    readonly value: string
    readonly isNew?: boolean | undefined
  }>
}

/** The form of a contact that nobody has changed. */
export const editedOf = ({ customFields = {}, firstName = "", lastName = "" }: Contact): Edited => ({
  firstName,
  lastName,
  custom: Object.entries(customFields).map(([name, value]) => ({ name, value }))
})

/** What the form changes, or `undefined` if nothing. An empty text removes a custom field. */
export const changesOf = (
  contact: Contact,
  { custom, firstName, lastName }: Edited
): ContactUpdatePayload | undefined => {
  const before = editedOf(contact)
  const stored = new Map(before.custom.map(({ name, value }) => [name, value]))
  const changed = custom.filter(({ name, value }) => name.trim() !== "" && (stored.get(name) ?? "") !== value)
  const changes: ContactUpdatePayload = {
    ...(firstName === before.firstName ? {} : { firstName }),
    ...(lastName === before.lastName ? {} : { lastName }),
    ...(changed.length === 0
      ? {}
      : { customFields: Object.fromEntries(changed.map(({ name, value }) => [name, value])) })
  }
  return Object.keys(changes).length === 0 ? undefined : changes
}

/** The flags of a command that makes the same change. */
export const fieldWords = ({ customFields = {}, firstName, lastName }: ContactUpdatePayload): ReadonlyArray<string> => [
  ...(firstName === undefined ? [] : ["--first-name", firstName]),
  ...(lastName === undefined ? [] : ["--last-name", lastName]),
  ...Object.entries(customFields).flatMap(([name, value]) => ["--field", `${name}=${value}`])
]

/** The words of the command that makes the same change. */
export const updateWords = (email: string, changes: ContactUpdatePayload): ReadonlyArray<string> => [
  "contacts",
  "update",
  email,
  ...fieldWords(changes)
]

/** Changes a contact. */
export const updateContact = runtime.fn(
  ({ changes, email }: { readonly email: string; readonly changes: ContactUpdatePayload }) =>
    asRun("update", [email], (contacts) => contacts.update(email, changes)),
  { reactivityKeys: contactsChanged }
)

/** A status that somebody gives a contact. */
export interface NewStatus {
  readonly email: string
  readonly status: ContactStatus
  /** Whether the person asked for mail again. */
  readonly resubscribe: boolean
}

/** Changes the status of a contact, as a run. One that gets no mail gets some again only if that is said. */
export const setStatus = runtime.fn(
  ({ email, resubscribe, status }: NewStatus) =>
    asRun("status", [email], (recording) =>
      Effect.provideService(changeStatus(email, status, { resubscribe }), ContactsService, recording)
    ),
  { reactivityKeys: contactsChanged }
)

/** A contact with this address is stored already. */
export class AlreadyStored extends Data.TaggedError("AlreadyStored")<{ readonly email: string }> {
  override get message(): string {
    return `A contact ${this.email} is stored already. Open it to change it.`
  }
}

/** A contact to add; an empty name is none. */
export interface NewContact {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
}

/** The words of the command that adds it. */
export const addWords = ({ email, firstName, lastName }: NewContact): ReadonlyArray<string> => [
  "contacts",
  "add",
  email,
  ...(firstName === "" ? [] : ["--first-name", firstName]),
  ...(lastName === "" ? [] : ["--last-name", lastName])
]

/** Adds a contact if none has its address, so that it overwrites none, and gives the address. */
export const addContact = runtime.fn(
  ({ email, firstName, lastName }: NewContact) =>
    asRun(
      "add",
      [email],
      Effect.fnUntraced(function* (contacts) {
        const write = { ...(firstName !== "" && { firstName }), ...(lastName !== "" && { lastName }) }
        // The service checks the address.
        const [answer] = yield* contacts.change([{ email: email as EmailAddress, seen: null, write }])
        return answer?._tag === "Done" ? email : yield* new AlreadyStored({ email })
      })
    ),
  { reactivityKeys: contactsChanged }
)
