/** The repository of contacts: the methods of `ContactsService` that read and write them on SQL. */
import {
  type AddOptions,
  type Contact,
  type ContactFilter,
  ContactNotFound,
  ContactPayload,
  type ContactsService,
  ContactUpdatePayload,
  canonicalEmail,
  type GetOptions,
  InvalidInput,
  maximumContactsPerAdd,
  TooManyContacts
} from "@roster/domain"
import {
  checkAddSize,
  checkPage,
  checkPlaces,
  fnRedacted,
  selectsEveryContact,
  sentPart,
  validated,
  writeOf,
  mergedRefusal,
  newContact,
  listsRefusal
} from "@roster/domain/internal"
import { Array as Arr, DateTime, Effect, identity, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller, type CallerIdentity, mayViewContacts } from "../credentials/Caller.ts"
import { asCaller, asCallerAt } from "../credentials/CallerCheck.ts"
import { openRun } from "../runs/RunRecorder.ts"
import { encoded } from "../store/AnswerEncoding.ts"
import { preparedQuery } from "../store/SqlDialect.ts"
import { sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { asShortCall } from "../store/postgres/PostgresOptions.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { fromSeconds, storeClock } from "../store/StoreClock.ts"
import { type BulkWrite, writeMany } from "./BulkWrites.ts"
import { contactsWith, LargeAnswer, makeCount, makePages } from "./ContactPagination.ts"
import { columnsFor, toSubject } from "./ContactRow.ts"
import { checkContacts, checkEmail, checkListNames, checkTexts, orRefusal, writtenOf } from "./ContactValidation.ts"
import { writeContacts } from "./ContactWrites.ts"
import { deleteThose } from "./RecordedContacts.ts"
import { addToLists, beyondLists, ensureLists } from "./ListMembers.ts"
import { RuleScans } from "./RuleScans.ts"
import { readRule } from "./ContactSelection.ts"

/** An add or change of this many contacts takes less time than an fsync. */
export const maximumShared = 10

const readPayloads = validated(Schema.Array(ContactPayload))
const readChanges = validated(ContactUpdatePayload)

interface AddContactsOptions extends Omit<AddOptions, "idempotencyKey"> {
  /** Whether the contacts come from a request, whose body was decoded and bounded (default: false). */
  readonly isDecoded?: boolean
}

/** What the caller may know of a contact that it changed. */
export const shownTo = (caller: CallerIdentity, contact: Contact, sent: Parameters<typeof sentPart>[1]): Contact =>
  mayViewContacts(caller) ? contact : sentPart(contact, sent)

/**
 * Adds contacts, and gives what `answer` makes of what `read` makes of them, as they are in the end. The answer is a
 * part of the transaction.
 */
export const addContacts = Effect.fnUntraced(function* <W extends object, A, R>(
  payloads: ReadonlyArray<ContactPayload>,
  { defaultStatus, isDecoded = false, listNames = [], only, resubscribe }: AddContactsOptions,
  read: (contact: Contact) => W,
  answer: (
    written: ReadonlyArray<W & { readonly id: number }>,
    contacts: ReadonlyArray<ContactPayload>
  ) => Effect.Effect<A, SqlError.SqlError, R>
) {
  const sql = yield* SqlClient.SqlClient
  const caller = yield* Caller
  const { account } = caller
  if (Array.isArray(payloads) && payloads.length > maximumContactsPerAdd) {
    return yield* new TooManyContacts({ count: payloads.length, maximum: maximumContactsPerAdd })
  }
  yield* checkListNames("listNames", listNames)
  const contacts = isDecoded ? payloads : yield* readPayloads(payloads)
  yield* checkPlaces(contacts, listNames)
  if (!isDecoded) yield* checkAddSize(contacts)
  yield* checkContacts(contacts)
  const written = Effect.fnUntraced(function* (now: number) {
    const lists = yield* ensureLists(account, listNames, "listNames")
    const identities = contacts.map(({ email }) => canonicalEmail(email))
    const beyond = yield* beyondLists(account, identities, lists)
    if (beyond.size > 0) {
      const index = identities.findIndex((identity) => beyond.has(identity))
      return yield* listsRefusal(`[${index}].listNames`)
    }
    const source = "ContactApi"
    /** The ids of contacts that `only` leaves out. */
    const leftOut = new Map<string, number>()
    const { answers, ids } = yield* writeContacts({
      account,
      source,
      now,
      only,
      defaultStatus,
      listNames,
      writes: contacts.map((contact, index) => {
        return { identity: identities[index] ?? "", email: contact.email, write: writeOf(contact, resubscribe) }
      }),
      read: (result, state, one, index) => {
        if (result === "LeftOut") {
          const { email, identity, write = {} } = one
          // Who may not view contacts does not learn whether it is there.
          if (!mayViewContacts(caller)) return read(newContact({ email, write, source, date: fromSeconds(now) }))
          if (state?.id !== undefined) leftOut.set(identity, state.id)
          return read(state?.contact ?? { email })
        }
        return result === "Done" && state !== undefined
          ? read(state.contact)
          : mergedRefusal(writtenOf(one), `[${index}].`)
      }
    })
    const merged = yield* orRefusal(answers)
    yield* addToLists(account, lists, [...ids.values()])
    // A later payload for the same address changes the answer to an earlier one.
    const last = new Map(merged.map((one, index) => [identities[index], one]))
    return yield* answer(
      Arr.zipWith(identities, merged, (identity, one) => {
        return { ...(last.get(identity) ?? one), id: ids.get(identity) ?? leftOut.get(identity) ?? 0 }
      }),
      contacts
    )
  })
  return yield* asCallerAt(sql, "contactsPost", written).pipe(
    contacts.length <= maximumShared ? sharingCommit : identity
  )
})

/** Deletes contacts. One that has begun is finished. */
export const bulkDelete: BulkWrite = {
  operation: "contactsDeletePost",
  halfDone: {
    detail: "the store failed when a part of the contacts was deleted",
    recovery: "Delete the same again, which deletes the rest."
  },
  write: deleteThose,
  checkRule: (rule) =>
    selectsEveryContact(rule)
      ? Effect.fail(
          new InvalidInput({
            field: "rule",
            issue: "it selects every contact; use the rule All to select every contact"
          })
        )
      : Effect.void
}

export const makeContactRepository = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const scans = yield* RuleScans
  const pages = yield* makePages
  const inStore = Effect.provideService(SqlClient.SqlClient, sql)

  const finding = (lists: boolean) => {
    const columns = sql.literal(columnsFor(undefined, lists))
    return preparedQuery(
      sql,
      sql`SELECT ${columns} FROM contacts WHERE account = ${"account"} AND identity = ${"identity"}`
    )
  }
  const find = finding(false)
  const findListed = finding(true)

  const get = fnRedacted("ContactsService.get")(function* (email: string, { lists = false }: GetOptions = {}) {
    const { account } = yield* Caller
    yield* checkEmail("email", email)
    const found = lists ? findListed : find
    const [row] = yield* asShortCall(found([account, canonicalEmail(email)]))
    return row === undefined ? yield* new ContactNotFound({ email }) : toSubject(row)
  }, orStoreFailure("contactsByEmailGet"))

  const list: ContactsService["Service"]["list"] = fnRedacted("ContactsService.list")(
    function* (page = {}) {
      const listed = yield* pages(page)
      return listed instanceof LargeAnswer ? [] : listed
    },
    inStore,
    orStoreFailure("contactsGet")
  )

  const getMany: ContactsService["Service"]["getMany"] = fnRedacted("ContactsService.getMany")(
    function* (emails, { lists = false } = {}) {
      const found = yield* contactsWith(emails, lists)
      return { contacts: found instanceof LargeAnswer ? [] : found, isAtOnce: true }
    },
    inStore,
    orStoreFailure("contactsLookupPost")
  )

  const counted = yield* makeCount
  const count: ContactsService["Service"]["count"] = fnRedacted("ContactsService.count")(function* (of) {
    return yield* counted(of)
  }, orStoreFailure("contactsCountGet"))

  const fields: ContactsService["Service"]["fields"] = fnRedacted("ContactsService.fields")(function* ({
    rule: given = "All"
  } = {}) {
    const { account } = yield* Caller
    yield* checkPage({ rule: given })
    const rule = yield* readRule(given)
    const now = DateTime.toEpochMillis(yield* storeClock(sql).now)
    return yield* scans.fields({ operation: "contactsFieldsGet", isDeletion: false }, { account, rule, now })
  }, orStoreFailure("contactsFieldsGet"))

  const add = fnRedacted("ContactsService.add")(
    function* (payloads: ReadonlyArray<ContactPayload>, options: Omit<AddOptions, "idempotencyKey"> = {}) {
      return yield* addContacts(
        payloads,
        options,
        (contact) => ({ contact }),
        (written, contacts) =>
          Effect.map(Caller, (caller) =>
            Arr.zipWith(written, contacts, ({ contact }, sent) => shownTo(caller, contact, sent))
          )
      )
    },
    inStore,
    orStoreFailure("contactsPost")
  )

  const update = fnRedacted("ContactsService.update")(function* (email: string, payload: ContactUpdatePayload) {
    const caller = yield* Caller
    const { account } = caller
    const changes = yield* readChanges(payload)
    yield* checkEmail("email", email)
    yield* checkTexts(changes)
    const merged = Effect.fnUntraced(function* (now: number) {
      const {
        answers: [contact]
      } = yield* writeContacts({
        account,
        source: "ContactApi",
        now,
        writes: [{ identity: canonicalEmail(email), email, write: writeOf(changes, false) }],
        only: "existing",
        isAlone: true,
        read: (result, state, one) => (result === "TooLarge" ? mergedRefusal(writtenOf(one)) : state?.contact)
      })
      if (contact === undefined) return yield* new ContactNotFound({ email })
      if (contact instanceof InvalidInput) return yield* contact
      return yield* encoded(shownTo(caller, contact, { ...changes, email }))
    })
    return yield* inStore(sharingCommit(asCallerAt(sql, "contactsByEmailPut", merged)))
  }, orStoreFailure("contactsByEmailPut"))

  const delete_ = fnRedacted("ContactsService.delete")(
    function* (email: string) {
      const { account } = yield* Caller
      yield* checkEmail("email", email)
      const deletion = Effect.flatMap(openRun, (run) =>
        deleteThose(run, account, sql`identity = ${canonicalEmail(email)}`)
      )
      const deleted = yield* sharingCommit(asCaller(sql, "contactsByEmailDelete", deletion))
      if (deleted.length === 0) return yield* new ContactNotFound({ email })
    },
    inStore,
    orStoreFailure("contactsByEmailDelete")
  )

  const deleteMany = fnRedacted("ContactsService.deleteMany")(
    function* (filter: ContactFilter) {
      yield* writeMany(scans, bulkDelete, filter)
    },
    inStore,
    orStoreFailure("contactsDeletePost")
  )

  return { get, getMany, list, count, fields, add, update, delete: delete_, deleteMany }
})
