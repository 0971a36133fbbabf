/** The contacts that the rule selects: how many, the page of them that is shown, and those that are chosen. */
import { type ContactOrder, ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { lastFirst, pageSize } from "../kit/Pager.tsx"
import { rule, selection } from "../rules/AppliedRule.ts"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"
import { listsColumn, usualColumns } from "./ContactColumn.ts"
import { type Meant, ruleBut } from "./ContactSelection.ts"
import { readPage, type ShownPage } from "./SortedPage.ts"

/** The order that is shown. */
export const sort = Atom.keepAlive(Atom.make<ContactOrder>("added"))

/** The rule and order that are shown, as one text. */
const ruleInOrder = Atom.readable((get) => `${get(sort)} ${get(rule)}`)

/** A value that holds while what is shown does, and is the initial one again once something else is. */
const whileShown = <A>(shown: Atom.Atom<string>, initial: A): Atom.Writable<A, A> => {
  const kept = Atom.keepAlive(Atom.make({ of: "", value: initial }))
  return Atom.writable(
    (get) => {
      const { of, value } = get(kept)
      return of === get(shown) ? value : initial
    },
    (context, value: A) => context.set(kept, { of: context.get(shown), value })
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
export const choice = whileShown<Choice>(rule, noChoice)

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

const wantsChosen = whileShown(rule, false)

/** Whether the contacts that are chosen are shown alone. */
export const onlyChosen = Atom.writable(
  (get) => get(wantsChosen) && get(chosen).size > 0,
  (context, isWanted: boolean) => {
    context.set(wantsChosen, isWanted)
    context.set(first, 0)
  }
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

/** How many contacts are shown, page by page: those of the rule, or the chosen ones; `undefined` until that is known. */
export const shownTotal = Atom.readable((get): number | undefined => (get(onlyChosen) ? get(chosen).size : get(total)))

/** The contacts that the rule leaves out, since it cannot compare a value of theirs. */
export const unplaced = Atom.readable((get) => AsyncResult.getOrElse(get(count), () => undefined)?.unplaced)

const wantedFirst = whileShown(ruleInOrder, 0)

/** The place of the first contact that is shown, counted from 0: on the last page, if there are fewer by now. */
export const first = Atom.writable(
  (get) => Math.min(get(wantedFirst), lastFirst(get(shownTotal) ?? Infinity, get(pageSize))),
  (context, place: number) => context.set(wantedFirst, place)
)

const nothingShown: ShownPage = { of: "", first: 0, emails: [] }

const shownLast = Atom.keepAlive(Atom.make(nothingShown))

/** The place of the first contact that a person asked for, which the last page has if there are fewer by now. */
export const askedFirst = Atom.readable((get) => get(wantedFirst))

/** The page of contacts that is shown, and the place of its first. */
export const page = Atom.withReactivity(contactsChanged)(
  runtime.atom((get) => {
    const lists = get(columns).includes(listsColumn)
    const of = get(ruleInOrder)
    const wanted = { sort: get(sort), first: get(first), limit: get(pageSize) }
    const last = get.once(shownLast)
    const emails = get(onlyChosen) ? [...get(chosen)].slice(wanted.first, wanted.first + wanted.limit) : undefined
    return Effect.gen(function* () {
      if (emails !== undefined) {
        const { contacts } = yield* (yield* ContactsService).getMany(emails, { lists })
        return { contacts, first: wanted.first }
      }
      const contacts = yield* readPage(
        yield* ContactsService,
        { ...wanted, total: get.once(total) },
        { lists, ...selection(get.once(rule)) },
        last.of === of ? last : nothingShown
      )
      if (contacts === undefined) {
        get.set(first, 0)
        return yield* Effect.never
      }
      get.set(shownLast, { of, first: wanted.first, emails: contacts.map(({ email }) => email) })
      return { contacts, first: wanted.first }
    })
  })
)

const isPageShown = Atom.readable((get) => AsyncResult.isSuccess(get(page)))

const orders = runtime.atom((get) =>
  get(isPageShown)
    ? ContactsService.use((contacts) => contacts.list({ limit: 0, sort: "email" })).pipe(
        Effect.as(undefined),
        Effect.catchTag("InvalidInput", ({ issue }) => Effect.succeed(issue))
      )
    : Effect.never
)

/** Why the service has no other order than that of adding; `undefined` if it has, or nobody knows yet. */
export const whyUnsorted = Atom.readable((get) => AsyncResult.getOrElse(get(orders), () => undefined))

/** A contact, whole, with its lists. */
export const contact = Atom.family((email: string) =>
  Atom.withReactivity(contactsChanged)(
    runtime.atom(ContactsService.use((contacts) => contacts.get(email, { lists: true })))
  )
)
