/**
 * What a person changes of a contact in its form: only that is sent, as a run that can be undone. What others changed meanwhile is taken into
 * the form, and where both changed a field, the person chooses.
 */
import { Contact, ContactsService, ContactStatus, type Resubscribe } from "@roster/domain"
import { everyStatus, FieldNames } from "@roster/domain/internal"
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
import { askWhile } from "../session/Unsaved.tsx"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"
import { fieldTitle } from "../texts/SharedTexts.ts"
import { contact as contactOf } from "./ContactAtoms.ts"

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

/** What a person has edited of a contact and not saved. */
export interface Draft {
  readonly email: string
  /** The contact upon which it was edited. */
  readonly seen: Contact
  readonly edited: Edited
}

/** What is edited and not saved: it outlives the dialog, whatever closes that. */
export const draft = Atom.keepAlive(Atom.make<Draft | undefined>(undefined))

askWhile((registry) => {
  const kept = registry.get(draft)
  return kept !== undefined && changesOf(kept.seen, kept.edited) !== undefined
})

/** A field that a person and others have changed, and differently. */
export interface Conflict {
  /** `status`, `firstName`, `lastName`, or the folded name of a custom field behind a colon. */
  readonly field: string
  readonly title: string
  readonly mine: string
  readonly now: string
}

const keyOf = (name: string): string => `:${FieldNames.foldName(name.trim())}`

/** The texts of a form by field, in its order; a field that is not there has the empty text. */
const textsOf = ({ custom, firstName, lastName, status }: Edited): ReadonlyMap<string, string> =>
  new Map([
    ["status", status],
    ["firstName", firstName],
    ["lastName", lastName],
    ...custom.map(({ name, value }): readonly [string, string] => [keyOf(name), value])
  ])

/** A form with other texts of some fields. */
const withTexts = (edited: Edited, textOf: (field: string, text: string) => string): Edited => ({
  status: textOf("status", edited.status),
  firstName: textOf("firstName", edited.firstName),
  lastName: textOf("lastName", edited.lastName),
  custom: edited.custom.map((field) => ({ ...field, value: textOf(keyOf(field.name), field.value) }))
})

const titles = new Map([
  ["status", fieldTitle("Status")],
  ["firstName", fieldTitle("FirstName")],
  ["lastName", fieldTitle("LastName")]
])

/** The form upon the contact as it is now: what others changed is taken over, but for the fields that the person changed too. */
export const mergedWith = (
  { edited, seen }: Pick<Draft, "edited" | "seen">,
  now: Contact
): { readonly edited: Edited; readonly conflicts: ReadonlyArray<Conflict> } => {
  const [before, stored] = [textsOf(editedOf(seen)), textsOf(editedOf(now))]
  const [was, is] = [(field: string) => before.get(field) ?? "", (field: string) => stored.get(field) ?? ""]
  const mine = textsOf(edited)
  const own = new Set(edited.custom.map(({ name }) => keyOf(name)))
  const merged = withTexts(edited, (field, text) => (text === was(field) ? is(field) : text))
  return {
    edited: {
      ...merged,
      custom: [
        ...merged.custom.filter(({ isNew, name, value }) => isNew === true || stored.has(keyOf(name)) || value !== ""),
        ...editedOf(now).custom.filter(({ name }) => !own.has(keyOf(name)))
      ]
    },
    conflicts: [...mine].flatMap(([field, text]) =>
      field === ":" || text === was(field) || is(field) === was(field) || text === is(field)
        ? []
        : [
            {
              field,
              title: titles.get(field) ?? edited.custom.find(({ name }) => keyOf(name) === field)?.name ?? field,
              mine: text,
              now: is(field)
            }
          ]
    )
  }
}

/** The draft after the person chose, for each field of a conflict, whether what they wrote stays. */
export const settled = (draft: Draft, now: Contact, staysMine: (field: string) => boolean): Draft => {
  const { conflicts, edited } = mergedWith(draft, now)
  const theirs = new Map(conflicts.flatMap(({ field, now }) => (staysMine(field) ? [] : [[field, now] as const])))
  return { ...draft, seen: now, edited: withTexts(edited, (field, text) => theirs.get(field) ?? text) }
}

/** A change that a person saves. */
interface Change {
  readonly email: string
  readonly changes: Changes
  /** The contact upon which the person made it: where others have changed the same fields since, it is not made. */
  readonly seen?: Contact | undefined
  readonly resubscribe?: Resubscribe
}

/** The change as a plan of one, which a service takes that compares nothing. Whoever left was asked before. */
const byPlan = Effect.fnUntraced(function* ({ changes, email }: Change, refusal: NotChangeable) {
  const contact = yield* (yield* ContactsService).get(email)
  const plan = yield* planUpdate(Stream.make(contact), changes, { resubscribe: everyStatus })
  const { report } = yield* Effect.catchTag(plan.applyWith({ command: "update" }), "Stopped", ({ cause }) => cause)
  if (report.done === 0) return yield* refusal
  return { run: report.run ?? "" }
})

/** Changes a contact that is there. */
export const updateContact = runtime.fn(
  (change: Change, get) =>
    changeAsRun(
      { email: change.email, write: { ...change.changes, resubscribe: change.resubscribe } },
      { command: "update", seen: change.seen }
    ).pipe(
      Effect.catchTag("NotChangeable", (refusal) => byPlan(change, refusal)),
      Effect.map(({ run }) => ({ email: change.email, run })),
      // The form shows what is there now beside what is edited.
      Effect.tapErrorTag("ContactChanged", () => Effect.sync(() => get.refresh(contactOf(change.email))))
    ),
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
// oxlint-disable-next-line page/texts -- Names of commands.
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
