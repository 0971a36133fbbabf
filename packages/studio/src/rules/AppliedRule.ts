/** The rule that selects contacts on every view, and the fields that a rule can name. */
import { ContactsService, type FieldsInUse } from "@roster/domain"
import { Atom } from "effect/reactivity"
import { contactsChanged } from "../session/Changes.ts"
import { runtime } from "../session/Session.ts"

/** The rule that is shown; empty for all contacts. */
export const rule = Atom.keepAlive(Atom.make(""))

/** What a rule selects; an empty one selects all contacts. */
export const selection = (rule: string) => (rule === "" ? {} : { rule })

/** The fields that contacts have, for columns and for the completion of rules. */
export const fieldsInUse = Atom.keepAlive(
  Atom.withReactivity(contactsChanged)(runtime.atom(ContactsService.use((contacts) => contacts.fields())))
)

/** The custom fields in use, if they are known. */
export const knownFields = Atom.readable((get): FieldsInUse | undefined => {
  const result = get(fieldsInUse)
  return result._tag === "Success" ? result.value : undefined
})
