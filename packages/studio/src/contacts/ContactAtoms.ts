/** The contacts that the rule selects: how many, the page of them that is shown, and those that are chosen. */
import { ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { lastFirst, pageSize } from "../kit/Pager.tsx"
import { rule, selection } from "../rules/AppliedRule.ts"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"
import { listsColumn, usualColumns } from "./ContactColumn.ts"
import { type Meant, ruleBut } from "./ContactSelection.ts"

/** A value that holds while the rule does, and is the initial one again once another rule is shown. */
const whileRule = <A>(initial: A): Atom.Writable<A, A> => {
  const kept = Atom.keepAlive(Atom.make({ rule: "", value: initial }))
  return Atom.writable(
    (get) => {
      const { rule: of, value } = get(kept)
      return of === get(rule) ? value : initial
    },
    (context, value: A) => context.set(kept, { rule: context.get(rule), value })
  )
}

/** Which contacts are chosen: those of some addresses, or all that the rule selects but those. */
export interface Choice {
  readonly isAll: boolean
  readonly emails: ReadonlySet<string>
}

/** Nobody is chosen. */
export const noChoice: Choice = { isAll: false, emails: new Set() }

/** Which contacts are chosen, whatever page is shown, until another rule is. */
export const choice = whileRule<Choice>(noChoice)

/** Whether a contact that the rule selects is chosen. */
export const isChosen = ({ emails, isAll }: Choice, email: string): boolean => emails.has(email) !== isAll

/** A choice with some contacts, or without them. */
export const chosenToo = (before: Choice, some: Iterable<string>, isIn: boolean): Choice => {
  const emails = new Set(before.emails)
  for (const email of some) {
    if (isIn === before.isAll) emails.delete(email)
    else emails.add(email)
  }
  return { ...before, emails }
}

/** The contacts that are chosen by their addresses. */
export const chosen = Atom.writable(
  (get) => (get(choice).isAll ? noChoice : get(choice)).emails,
  (context, emails: ReadonlySet<string>) => context.set(choice, { isAll: false, emails })
)

/** The columns that are shown, by their names. */
export const columns = Atom.keepAlive(Atom.make<ReadonlyArray<string>>(usualColumns))

/** The contact that is open, by its address. */
export const opened = Atom.keepAlive(Atom.make<string | undefined>(undefined))

/** How many contacts the rule selects. */
export const count = Atom.withReactivity(contactsChanged)(
  runtime.atom((get) => {
    const text = get(rule)
    return ContactsService.use((contacts) => contacts.count(selection(text)))
  })
)

/** How many contacts the rule selects; `undefined` until that is known. */
export const total = Atom.readable(
  (get): number | undefined => AsyncResult.getOrElse(get(count), () => undefined)?.count
)

/** How many contacts are chosen, as far as that is known. */
export const numberChosen = Atom.readable((get): number => {
  const { emails, isAll } = get(choice)
  return isAll ? Math.max(0, (get(total) ?? 0) - emails.size) : emails.size
})

/** The contacts that are chosen. */
export const meant = Atom.readable((get): Meant => {
  const { emails, isAll } = get(choice)
  return isAll ? { _tag: "ByRule", rule: ruleBut(get(rule), emails) } : { _tag: "Chosen", emails }
})

/** The contacts that the rule leaves out, since it cannot compare a value of theirs. */
export const unplaced = Atom.readable((get) => AsyncResult.getOrElse(get(count), () => undefined)?.unplaced)

const wantedFirst = whileRule(0)

/** The place of the first contact that is shown, counted from 0: on the last page, if there are fewer by now. */
export const first = Atom.writable(
  (get) => Math.min(get(wantedFirst), lastFirst(get(total) ?? Infinity, get(pageSize))),
  (context, place: number) => context.set(wantedFirst, place)
)

/** The page of contacts that is shown, and the place of its first. */
export const page = Atom.withReactivity(contactsChanged)(
  runtime.atom((get) => {
    const lists = get(columns).includes(listsColumn)
    const of = { limit: get(pageSize), offset: get(first), lists, ...selection(get(rule)) }
    return ContactsService.use((service) =>
      Effect.map(service.list(of), (contacts) => ({ contacts, first: of.offset }))
    )
  })
)

/** A contact, whole, with its lists. */
export const contact = Atom.family((email: string) =>
  Atom.withReactivity(contactsChanged)(
    runtime.atom(ContactsService.use((contacts) => contacts.get(email, { lists: true })))
  )
)
