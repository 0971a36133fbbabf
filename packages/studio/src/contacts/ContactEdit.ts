/** What a person changes of a contact in its form: only that is sent, as a run that can be undone. */
import { Contact, ContactsService, ContactStatus, type Resubscribe } from "@roster/domain"
import { everyStatus } from "@roster/domain/internal"
import {
  changeAsRun,
  type NotChangeable,
  planUpdate,
  type RosterCommand,
  RunOrigin,
  selectionWords,
  type UpdateOfMany,
  WouldResubscribe
} from "@roster/workflows"
import { Cause, Effect, Option, Schema, Stream } from "effect"
import { Atom, AsyncResult } from "effect/reactivity"
import { download } from "../kit/Download.ts"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"

/** The fields as they stand in the form. */
export interface Edited {
  readonly status: string
  readonly firstName: string
  readonly lastName: string
  readonly custom: ReadonlyArray<{
    readonly name: string
    readonly value: string
    readonly isNew?: boolean | undefined
  }>
}

/** The form of a contact as it is stored. */
export const editedOf = ({ customFields = {}, firstName = "", lastName = "", status }: Contact): Edited => ({
  status: status ?? "",
  firstName,
  lastName,
  custom: Object.entries(customFields).map(([name, value]) => ({ name, value }))
})

/** What a person changes of a contact. */
export type Changes = Pick<UpdateOfMany, "firstName" | "lastName" | "customFields" | "status">

const isStatus = Schema.is(ContactStatus)

/** What the form changes, or `undefined` if nothing. An empty text removes a custom field. */
export const changesOf = (contact: Contact, { custom, firstName, lastName, status }: Edited): Changes | undefined => {
  const before = editedOf(contact)
  const stored = new Map(before.custom.map(({ name, value }) => [name, value]))
  const changed = custom.filter(({ name, value }) => name.trim() !== "" && (stored.get(name) ?? "") !== value)
  const changes: Changes = {
    ...(status === before.status || !isStatus(status) ? {} : { status }),
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
  { given, values }: Pick<RosterCommand, "given" | "values">,
  { customFields = {}, firstName, lastName, status }: UpdateOfMany,
  resubscribe = false
): RosterCommand => ({
  program: "contacts update",
  given: given ?? [],
  values: {
    ...values,
    firstName,
    lastName,
    status,
    resubscribe,
    field: Object.entries(customFields).map(([name, value]) => `${name}=${value}`)
  }
})

/** The command that asks alike. */
export const changeCommand = (email: string, changes: Changes): RosterCommand => ({
  ...updateCommand({ given: [email] }, changes),
  program: changes.status === undefined ? "contacts update" : "contacts add"
})

/** What a person has edited and not saved, of one contact: it outlives the dialog, whatever closes that. */
export const draft = Atom.keepAlive(
  Atom.make<{ readonly email: string; readonly edited: Edited } | undefined>(undefined)
)

/** A change that a person saves. */
interface Change {
  readonly email: string
  readonly changes: Changes
  readonly resubscribe?: Resubscribe
}

/** The change as a plan of one, which a service takes that compares nothing. Whoever left was asked before. */
const byPlan = Effect.fnUntraced(function* ({ changes, email }: Change, refusal: NotChangeable) {
  const contact = yield* (yield* ContactsService).get(email)
  const plan = yield* planUpdate(Stream.make(contact), changes, { resubscribe: everyStatus })
  const { report } = yield* Effect.catchTag(plan.applyWith({ command: "update" }), "Stopped", ({ cause }) => cause)
  if (report.done === 0) return yield* refusal
  return { run: report.run ?? "", contact: undefined }
})

/** Changes a contact that is there. */
export const updateContact = runtime.fn(
  (change: Change) =>
    changeAsRun(
      { email: change.email, write: { ...change.changes, resubscribe: change.resubscribe } },
      { command: "update" }
    ).pipe(Effect.catchTag("NotChangeable", (refusal) => byPlan(change, refusal))),
  { reactivityKeys: contactsChanged }
)

/** A place on a list, or off it. */
export interface Place {
  readonly email: string
  /** The name of the list. */
  readonly name: string
  readonly isOn: boolean
}

/** The command, and the program in the log, that puts contacts on a list or takes them off. */
export const placeProgram = (isOn: boolean) => (isOn ? "lists add" : "lists remove")

/** What it writes. */
export const placeWrite = ({ isOn, name }: Pick<Place, "isOn" | "name">) =>
  isOn ? { addToLists: [name.trim()] } : { removeFromLists: [name.trim()] }

/** Puts a contact on a list, or takes it off, as a run. */
export const placeContact = runtime.fn(
  (place: Place) =>
    Effect.map(
      changeAsRun({ email: place.email, write: placeWrite(place) }, { command: placeProgram(place.isOn) }),
      ({ run }) => ({ ...place, run })
    ).pipe(Effect.provideService(RunOrigin, { about: `${place.name.trim()}: ${selectionWords(1)}` })),
  { reactivityKeys: contactsChanged }
)

/** The question that a change of this contact ended with. */
export const askedOf = (
  email: string,
  result: AsyncResult.AsyncResult<unknown, unknown>
): WouldResubscribe | undefined => {
  const error = AsyncResult.isFailure(result) ? Option.getOrUndefined(Cause.findErrorOption(result.cause)) : undefined
  return error instanceof WouldResubscribe && error.email === email ? error : undefined
}

const encodeContact = Schema.encodeEffect(Schema.fromJsonString(Contact))

/** Saves the record of a contact as a file, which `roster contacts import` reads too. */
export const saveRecord = runtime.fn((contact: Contact) =>
  Effect.map(encodeContact(contact), (text) =>
    download("contact.json", new Blob([`[${text}]\n`], { type: "application/json" }))
  )
)
