/**
 * The contacts of the page: how many the rule selects, and windows of them, which are loaded when they
 * are looked at and forgotten a while after.
 */
import { ContactsService } from "@roster/domain"
import { Atom } from "effect/reactivity"
import { rule, selection } from "../rules/AppliedRule.ts"
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

interface Choice {
  readonly rule: string
  readonly emails: ReadonlySet<string>
}

const nobody: Choice = { rule: "", emails: new Set<string>() }
const choice = Atom.keepAlive(Atom.make(nobody))

/** The contacts that are chosen, by their addresses; none once another rule is shown. */
export const chosen = Atom.writable(
  (get): ReadonlySet<string> => {
    const made = get(choice)
    return made.rule === get(rule) ? made.emails : nobody.emails
  },
  (context, emails: ReadonlySet<string>) => context.set(choice, { rule: context.get(rule), emails })
)

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
