/** The tag of the operations on lists of contacts. Every layer keeps the same promises. */
import type { Effect } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import type { ContactList, ListNotFound, ListPayload, ListUpdatePayload } from "../lists/ContactList.ts"
import type { NameTaken } from "../credentials/Credential.ts"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import type { ServiceError } from "../errors/ServiceError.ts"
import type { ConflictingFilter, ContactFilter } from "../rules/ContactFilter.ts"
import type { InvalidRule } from "../rules/RuleError.ts"
import { fieldsOf } from "../values/UnknownNames.ts"
import type { ContactsPage, ListContactsPage } from "./ContactsPage.ts"
import { CheckedService, keyedFields } from "./CheckedService.ts"
import type { IdempotencyKeyReused, KeyedCall } from "./KeyedCall.ts"

/** A page of lists, in the order of their names. */
export interface ListsPage extends Pick<ContactsPage, "limit" | "offset"> {
  /** Whether the number of contacts of each list is told too (default: false). Another service than ours never tells it. */
  readonly counts?: boolean | undefined
}

/**
 * The operations on lists, the same on every layer. A list is found by its name as custom fields are, whatever the case of its
 * letters. What changes the lists of contacts is recorded in the run that `NamedRun` names.
 */
export class ListsService extends CheckedService<
  ListsService,
  {
    /** Lists the lists, by name. `listsGet`, needs ViewContacts. */
    readonly list: (page?: ListsPage) => Effect.Effect<ReadonlyArray<ContactList>, InvalidInput | ServiceError>
    /** Gets a list. `listsByNameGet`, needs ViewContacts. */
    readonly get: (name: string) => Effect.Effect<ContactList, ListNotFound | InvalidInput | ServiceError>
    /** Creates a list, which is empty unless it names contacts. `listsPost`, needs ModifyContacts. */
    readonly create: (
      list: ListPayload,
      options?: KeyedCall
    ) => Effect.Effect<ContactList, NameTaken | IdempotencyKeyReused | InvalidInput | ServiceError>
    /** Changes the given fields only; another name renames the list. `listsByNamePut`, needs ModifyContacts. */
    readonly update: (
      name: string,
      changes: ListUpdatePayload
    ) => Effect.Effect<ContactList, ListNotFound | NameTaken | InvalidInput | ServiceError>
    /** Takes all contacts off a list and deletes it; no contact is deleted. `listsByNameDelete`, needs ModifyContacts. */
    readonly delete: (name: string) => Effect.Effect<void, ListNotFound | InvalidInput | ServiceError>
    /** A page of the contacts on a list, in the order in which they were added. `listsByListnameContactsGet`, needs ViewContacts. */
    readonly contacts: (
      name: string,
      page?: ListContactsPage
    ) => Effect.Effect<ReadonlyArray<Contact>, ListNotFound | InvalidInput | ServiceError>
    /**
     * Puts the contacts of a rule or of addresses on a list; unknown addresses are ignored. `listsByNameContactsPost`, needs
     * ModifyContacts, and ViewContacts too for a rule.
     */
    readonly add: (
      name: string,
      filter: ContactFilter
    ) => Effect.Effect<ContactList, ListNotFound | ConflictingFilter | InvalidRule | InvalidInput | ServiceError>
    /**
     * Takes the contacts of a rule or of addresses off a list; those that are not on it are ignored.
     * `listsByNameContactsRemovePost`, needs ModifyContacts, and ViewContacts too for a rule.
     */
    readonly remove: (
      name: string,
      filter: ContactFilter
    ) => Effect.Effect<void, ListNotFound | ConflictingFilter | InvalidRule | InvalidInput | ServiceError>
  }
>()("@roster/domain/ListsService", {
  list: [fieldsOf<ListsPage>("a page of lists", { limit: true, offset: true, counts: true })],
  get: [null],
  create: ["Own", keyedFields],
  update: [null, "Own"],
  delete: [null],
  contacts: [null, fieldsOf<ListContactsPage>("a page of a list", { limit: true, offset: true, lists: true })],
  add: [null, "Own"],
  remove: [null, "Own"]
}) {}
