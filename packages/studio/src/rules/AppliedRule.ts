/** The rule that selects contacts on every view, and the fields that a rule can name. */
import { ContactsService, ListsService, type FieldsInUse } from "@roster/domain"
import { AsyncResult, Atom } from "effect/reactivity"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"

/** The rule that is shown; empty for all contacts. */
export const rule = Atom.keepAlive(Atom.make(""))

/** The rule as it is being written. */
export const draft = Atom.keepAlive(Atom.make(""))

/** Shows the contacts of a rule. */
export const show = Atom.writable(
  (get) => get(rule),
  (context, text: string) => {
    context.set(draft, text)
    context.set(rule, text)
  }
)

/** What a rule selects; an empty one selects all contacts. */
export const selection = (rule: string) => (rule === "" ? {} : { rule })

/** The fragment that exports the contacts of a rule, without its `#`. */
export const exportAddress = (rule: string): string =>
  rule === "" ? "export" : `export?${new URLSearchParams({ rule })}`

/** The fields that contacts have, for columns and for the completion of rules. */
export const fieldsInUse = Atom.keepAlive(
  Atom.withReactivity(contactsChanged)(runtime.atom(ContactsService.use((contacts) => contacts.fields())))
)

const listsInUse = Atom.keepAlive(
  Atom.withReactivity(contactsChanged)(runtime.atom(ListsService.use((lists) => lists.list({ limit: 1000 }))))
)

/** The names of the lists, if they are known and the service knows rules about them, as those of ours do. */
export const knownLists = Atom.readable((get): ReadonlyArray<string> =>
  AsyncResult.getOrElse(get(listsInUse), () => []).map(({ listName }) => listName)
)

/** The custom fields in use, if they are known. */
export const knownFields = Atom.readable((get): FieldsInUse | undefined =>
  AsyncResult.getOrElse(get(fieldsInUse), () => undefined)
)
