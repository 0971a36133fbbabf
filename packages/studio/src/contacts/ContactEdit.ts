/** What somebody changes of a contact, or a contact that somebody adds: only that is sent, as a run that can be undone. */
import type { Contact, ContactStatus, ContactUpdatePayload } from "@roster/domain"
import { Data, Effect } from "effect"
import { contactsChanged } from "../session/Changes.ts"
import type { Command } from "../session/CommandLine.tsx"
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

/** The command that makes the same change of the contacts that are meant. */
export const updateCommand = (
  { given, values }: Pick<Command, "given" | "values">,
  { customFields = {}, ...names }: ContactUpdatePayload
): Command => ({
  program: "contacts update",
  given: given ?? [],
  values: { ...values, ...names, field: Object.entries(customFields).map(([name, value]) => `${name}=${value}`) }
})

/** Changes a contact. */
export const updateContact = runtime.fn(
  ({ changes, email }: { readonly email: string; readonly changes: ContactUpdatePayload }) =>
    asRun({ email, write: changes }, { command: "update" }),
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
    asRun({ email, write: { status, resubscribe } }, { command: "status" }),
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

/** The command that adds it. */
export const addCommand = ({ email, firstName, lastName }: NewContact): Command => ({
  program: "contacts add",
  given: [email],
  values: { firstName: firstName || undefined, lastName: lastName || undefined }
})

/** Adds a contact if none has its address, so that it overwrites none, and gives the address. */
export const addContact = runtime.fn(
  ({ email, firstName, lastName }: NewContact) =>
    asRun(
      { email, write: { ...(firstName !== "" && { firstName }), ...(lastName !== "" && { lastName }) } },
      { command: "add", of: "new" }
    ).pipe(
      Effect.map(({ run }) => ({ run, email })),
      Effect.catchTag("ContactExists", () => new AlreadyStored({ email }))
    ),
  { reactivityKeys: contactsChanged }
)
