/**
 * The contacts of the page: the rule that selects them, how many there are, and windows of them, which are loaded when they
 * are looked at and forgotten a while after.
 */
import { ContactsService, type FieldsInUse, type InvalidRule, parseRule } from "@roster/domain"
import { Result } from "effect"
import { Atom } from "effect/reactivity"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"
import { usualColumns } from "./ContactColumn.ts"
import type { Meant } from "./ContactSelection.ts"

/** The number of contacts that are loaded together. */
export const windowSize = 100

/**
 * Maximum number of contacts by a rule that the grid goes to. Each window of a rule is a scan from its beginning, so they
 * are loaded one after the other; an export has all.
 */
export const maximumByRule = 20_000

/** The rule as it is being written. */
export const draft = Atom.keepAlive(Atom.make(""))

/** The rule that the grid shows; empty for all contacts. */
export const rule = Atom.keepAlive(Atom.make(""))

/** The contacts that are chosen, by their addresses. */
export const chosen = Atom.keepAlive(Atom.make<ReadonlySet<string>>(new Set<string>()))

/** The columns that are shown, by their names. */
export const columns = Atom.keepAlive(Atom.make<ReadonlyArray<string>>(usualColumns))

/** The contacts that somebody is about to delete. */
export const doomed = Atom.keepAlive(Atom.make<Meant | undefined>(undefined))

/** The contacts of which somebody is about to set a field. */
export const changing = Atom.keepAlive(Atom.make<Meant | undefined>(undefined))

/** Whether somebody is about to add a contact. */
export const isAdding = Atom.keepAlive(Atom.make(false))

/** The contact that is open, by its address. */
export const opened = Atom.keepAlive(Atom.make<string | undefined>(undefined))

/** What a rule selects; an empty one selects all contacts. */
export const selection = (rule: string) => (rule === "" ? {} : { rule })

/** The fields that contacts have, for columns and for the completion of rules. */
export const fieldsInUse = Atom.keepAlive(
  Atom.withReactivity(contactsChanged)(runtime.atom(ContactsService.use((contacts) => contacts.fields())))
)

/** For whoever does not ask for the fields yet, which are a scan of all contacts. */
export const noFields = Atom.readable((): FieldsInUse | undefined => undefined)

/** The custom fields in use, if they are known. */
export const knownFields = Atom.readable((get): FieldsInUse | undefined => {
  const result = get(fieldsInUse)
  return result._tag === "Success" ? result.value : undefined
})

/**
 * What is wrong with the rule as it is being written: a field that nobody has, too, if all fields are known, and none are being
 * asked for again, since contacts changed. `Atom.make` would run the error, which is an effect.
 */
export const draftProblem = Atom.readable((get): InvalidRule | undefined => {
  const text = get(draft)
  if (text.trim() === "") return undefined
  const known = get(knownFields)
  const names =
    known?.exact === true && !get(fieldsInUse).waiting
      ? known.fields.filter(({ isCustom }) => isCustom).map(({ name }) => name)
      : undefined
  const parsed = parseRule(text, names === undefined ? {} : { customFields: names })
  return Result.isFailure(parsed) ? parsed.failure : undefined
})

/** How many contacts the rule selects. */
export const count = Atom.withReactivity(contactsChanged)(
  runtime.atom((get) => {
    const text = get(rule)
    return ContactsService.use((contacts) => contacts.count(selection(text)))
  })
)

/** A window of the contacts that the rule selects, by its number. */
export const contactWindow = Atom.family((index: number) =>
  Atom.withReactivity(contactsChanged)(
    runtime.atom((get) => {
      const text = get(rule)
      return ContactsService.use((contacts) =>
        contacts.list({ limit: windowSize, offset: index * windowSize, ...selection(text) })
      )
    })
  ).pipe(Atom.setIdleTTL("20 seconds"))
)

/** How many rows the grid has: of a rule only so far as windows were loaded, and one more. */
export const rowsToShow = (rule: string, total: number, loadedWindows: number): number =>
  rule === "" ? total : Math.min(total, maximumByRule, (loadedWindows + 1) * windowSize)

/** A contact, whole. */
export const contact = Atom.family((email: string) =>
  Atom.withReactivity(contactsChanged)(runtime.atom(ContactsService.use((contacts) => contacts.get(email))))
)
