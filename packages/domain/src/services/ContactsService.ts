/**
 * The tag of the operations on contacts, with the options and summary of an add. Every layer keeps the same
 * promises.
 */
import type { Effect, PlatformError, Stream } from "effect"
import type {
  Contact,
  ContactNotFound,
  ContactPayload,
  ContactUpdatePayload,
  TooManyContacts
} from "../contacts/Contact.ts"
import type { ChangeAnswer, ContactChange } from "../contacts/ContactChange.ts"
import { type AddMode, modeFields, resubscribeIssue } from "../values/AddMode.ts"
import type { ListNotFound } from "../lists/ContactList.ts"
import type { KeptStatus, Resubscribe } from "../contacts/StatusLadder.ts"
import type { ConflictingFilter, ContactFilter } from "../rules/ContactFilter.ts"
import type { ImportOptions, ImportRefused, ImportSource } from "../jobs/ContactImport.ts"
import type { ExportExpired, ExportLink, ExportNotFound, ExportRequest, ExportStatus } from "../jobs/Export.ts"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import { fieldsOf } from "../values/UnknownNames.ts"
import type { FieldsInUse } from "../rules/FieldUse.ts"
import type { InvalidRule } from "../rules/RuleError.ts"
import type { ContactHistory, HistoryPage } from "../runs/ContactHistory.ts"
import type { ContactCount } from "../rules/evaluation/Unplaced.ts"
import type { ServiceError } from "../errors/ServiceError.ts"
import { CheckedService, keyedFields } from "./CheckedService.ts"
import type { FoundContacts } from "./ContactReads.ts"
import type { ContactsFrom, ContactsPage } from "./ContactsPage.ts"
import type { IdempotencyKeyReused, KeyedCall } from "./KeyedCall.ts"

/** The options of a read of contacts by their addresses. */
export interface GetOptions {
  /** Whether each contact has its lists, at a service of ours (default: false). Any other does not tell them. */
  readonly lists?: boolean | undefined
}

/** The options of an add. */
export interface AddOptions extends KeyedCall, AddMode {
  /** The lists that the contacts are put on, at most 100, and times the contacts 10,000; new ones are created. */
  readonly listNames?: ReadonlyArray<string> | undefined
  /**
   * The statuses that the add lifts: `false` for none, so that nobody's is lowered and NotConfirmed is given to new contacts
   * only, while everything else is updated; `true` for all but Abuse (default: each given status is written, as the interface
   * has it).
   */
  readonly resubscribe?: Resubscribe | undefined
}

/**
 * The options of conditional changes. Their key has no effect on a dry run, nor at a service where the client reads,
 * compares and writes by itself.
 */
export interface ChangeOptions extends KeyedCall {
  /** Answers what each change would do, and changes nothing (default: false). */
  readonly dryRun?: boolean | undefined
}

/** The summary of an add. */
export interface AddSummary {
  /** The contacts that kept their status, if `resubscribe` is given; in input order. */
  readonly keptStatuses: ReadonlyArray<KeptStatus>
}

const ruleOnly = fieldsOf<Pick<ContactsPage, "rule">>("this call", { rule: true })
const getFields = fieldsOf<GetOptions>("this call", { lists: true })
const addFields = fieldsOf<AddOptions>("an add", {
  ...keyedFields.fields,
  ...modeFields,
  listNames: true,
  resubscribe: resubscribeIssue
})

/** The operations on contacts, the same on every layer. */
export class ContactsService extends CheckedService<
  ContactsService,
  {
    /**
     * The id of these contacts, which plans and runs name. Backups keep it, and each account has another. Only a service
     * of ours has one; any other gives `undefined`.
     */
    readonly storeId: Effect.Effect<string | undefined, ServiceError>
    /** Gets a contact by its address. `contactsByEmailGet`, needs ViewContacts. */
    readonly get: (
      email: string,
      options?: GetOptions
    ) => Effect.Effect<Contact, ContactNotFound | InvalidInput | ServiceError>
    /** Lists a page of contacts, in the order in which they were added or in another one. `contactsGet`, needs ViewContacts. */
    readonly list: (
      page?: ContactsPage
    ) => Effect.Effect<ReadonlyArray<Contact>, InvalidRule | InvalidInput | ServiceError>
    /** Streams all contacts in constant memory, as `streamPages` describes. `contactsGet`, needs ViewContacts. */
    readonly stream: (from?: ContactsFrom) => Stream.Stream<Contact, InvalidRule | InvalidInput | ServiceError>
    /**
     * Gets the contacts with up to 1000 addresses; those that do not exist are left out. `contactsLookupPost`, needs
     * ViewContacts.
     */
    readonly getMany: (
      emails: ReadonlyArray<string>,
      options?: GetOptions
    ) => Effect.Effect<FoundContacts, TooManyContacts | InvalidInput | ServiceError>
    /**
     * The number of all contacts, or of those that a rule selects, and of those whose values the rule cannot compare. Where
     * the service does not count, the client looks which offsets have a contact, and does not know the latter.
     * `contactsCountGet`, needs ViewContacts.
     */
    readonly count: (
      of?: Pick<ContactsPage, "rule">
    ) => Effect.Effect<ContactCount, InvalidRule | InvalidInput | ServiceError>
    /**
     * The fields that contacts have, or those that a rule selects, with counts, kinds of values and examples. Of many
     * contacts it may count a part and say so. `contactsFieldsGet`, needs ViewContacts.
     */
    readonly fields: (
      of?: Pick<ContactsPage, "rule">
    ) => Effect.Effect<FieldsInUse, InvalidRule | InvalidInput | ServiceError>
    /**
     * A page of what was done to a contact, the newest first: what runs changed, and each status and consent that it was
     * given, of a deleted contact too. Only a service of ours knows it. `contactsByEmailHistoryGet`, needs ViewContacts.
     */
    readonly history: (
      email: string,
      page?: HistoryPage
    ) => Effect.Effect<ContactHistory, ContactNotFound | InvalidInput | ServiceError>
    /**
     * Adds or updates at most 1000 contacts of 8 MiB together and puts them on lists; new lists are created. Returns the
     * contacts in input order; one that `only` leaves out as it is, or with its address alone if it is not there. `contactsPost`,
     * needs ModifyContacts. A key without ViewContacts is told only what it sent: a status that it did not send is unknown, and
     * `undefined`, and of contacts that are left out it does not learn whether they are there.
     */
    readonly add: (
      contacts: ReadonlyArray<ContactPayload>,
      options?: AddOptions
    ) => Effect.Effect<ReadonlyArray<Contact>, TooManyContacts | IdempotencyKeyReused | InvalidInput | ServiceError>
    /** Like `add`, but checks the answer without decoding the contacts. */
    readonly addWithoutAnswer: (
      contacts: Iterable<ContactPayload>,
      options?: AddOptions
    ) => Effect.Effect<AddSummary, TooManyContacts | IdempotencyKeyReused | InvalidInput | ServiceError>
    /** Changes the given fields only. `contactsByEmailPut`, needs ModifyContacts. */
    readonly update: (
      email: string,
      changes: ContactUpdatePayload
    ) => Effect.Effect<Contact, ContactNotFound | InvalidInput | ServiceError>
    /** Deletes a contact. `contactsByEmailDelete`, needs ModifyContacts. */
    readonly delete: (email: string) => Effect.Effect<void, ContactNotFound | InvalidInput | ServiceError>
    /** Deletes the contacts of a rule or list; unknown addresses are ignored. `contactsDeletePost`, needs ModifyContacts. */
    readonly deleteMany: (
      filter: ContactFilter
    ) => Effect.Effect<void, ConflictingFilter | InvalidRule | InvalidInput | ServiceError>
    /**
     * Changes or deletes up to 1000 contacts of 8 MiB together, each only if it still is as it was seen, and answers each
     * in input order; of one address, the first change counts before the next. Doing it again does nothing twice, and with
     * the same idempotency key it is answered as the first time.
     * `contactsChangesPost`, needs ModifyContacts and, since an answer tells what the contact was, ViewContacts.
     */
    readonly change: (
      changes: ReadonlyArray<ContactChange>,
      options?: ChangeOptions
    ) => Effect.Effect<
      ReadonlyArray<ChangeAnswer>,
      TooManyContacts | IdempotencyKeyReused | InvalidInput | ServiceError
    >
    /** Starts an import, and returns once the service has the file. `contactsImportPost`, needs ModifyContacts. */
    readonly import: (
      source: ImportSource,
      options?: ImportOptions
    ) => Effect.Effect<void, ListNotFound | ImportRefused | InvalidInput | PlatformError.PlatformError | ServiceError>
    /**
     * Requests an export. `contactsExportPost`, needs Export. The same call with the same idempotency key is the same export,
     * maybe with a new link, which ends the one before.
     */
    readonly export: (
      request?: ExportRequest,
      options?: KeyedCall
    ) => Effect.Effect<ExportLink, ConflictingFilter | InvalidRule | IdempotencyKeyReused | InvalidInput | ServiceError>
    /** The current status of an export. `contactsExportByIdStatusGet`, needs Export. */
    readonly exportStatus: (id: string) => Effect.Effect<ExportStatus, ExportNotFound | InvalidInput | ServiceError>
    /** Downloads a ready export by its link. No key is sent. */
    readonly download: (
      link: string
    ) => Stream.Stream<Uint8Array, ExportNotFound | ExportExpired | InvalidInput | ServiceError>
  }
>()("@roster/domain/ContactsService", {
  get: [null, getFields],
  list: [
    fieldsOf<ContactsPage>("a page", { limit: true, offset: true, rule: true, lists: true, sort: true, after: true })
  ],
  stream: { stream: [fieldsOf<ContactsFrom>("a stream", { offset: true, rule: true, lists: true })] },
  getMany: [null, getFields],
  count: [ruleOnly],
  fields: [ruleOnly],
  history: [null, fieldsOf<HistoryPage>("a page of a history", { limit: true, cursor: true })],
  add: [null, addFields],
  addWithoutAnswer: [null, addFields],
  update: [null, "Own"],
  delete: [null],
  deleteMany: ["Own"],
  change: [null, fieldsOf<ChangeOptions>("a change", { ...keyedFields.fields, dryRun: true })],
  import: [
    {
      byTag: {
        File: fieldsOf("a file to import", { _tag: true, name: true, content: true, replayable: true }),
        Address: fieldsOf("an address to import from", { _tag: true, url: true })
      }
    },
    fieldsOf<ImportOptions>("an import", { listName: true, encodingName: true, resubscribe: resubscribeIssue })
  ],
  export: [
    fieldsOf<ExportRequest>("an export", {
      filter: true,
      fileFormat: true,
      compressionFormat: true,
      fileName: true,
      lists: true
    }),
    keyedFields
  ],
  exportStatus: [null],
  download: { stream: [null] }
}) {}
