/** The lists as a place: each with its number of people and when it was made; made and renamed. */
import { type ContactList, ListsService, maximumLists, Rule } from "@roster/domain"
import type { RosterCommand } from "@roster/workflows"
import { Effect } from "effect"
import { Atom } from "effect/reactivity"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"

/** All lists, by name, with the number of contacts on each where the service tells it. */
export const lists = Atom.withReactivity(contactsChanged)(
  runtime.atom(ListsService.use((service) => service.list({ limit: maximumLists, counts: true })))
)

/** The rule that selects everybody on a list. */
export const ruleOf = ({ listName }: ContactList): string => Rule.print(Rule.onList(listName))

/** Makes an empty list. */
export const create = runtime.fn(
  (name: string) => ListsService.use((service) => service.create({ listName: name.trim() })),
  { reactivityKeys: contactsChanged }
)

/** The command that makes it, meant or not where another list nearly has its name. */
export const createCommand = (name: string, isMeant: boolean): RosterCommand => ({
  program: "lists create",
  given: [name.trim()],
  values: { newField: isMeant }
})

/** Another name for a list. */
export interface Renaming {
  readonly from: string
  readonly to: string
}

/** The command that gives it. */
export const renameCommand = ({ from, to }: Renaming): RosterCommand => ({
  program: "lists rename",
  given: [from, to.trim()]
})

/** Renames a list. */
export const rename = runtime.fn(
  (renaming: Renaming) =>
    ListsService.use((service) =>
      Effect.as(service.update(renaming.from, { newListName: renaming.to.trim() }), renaming)
    ),
  { reactivityKeys: contactsChanged }
)
