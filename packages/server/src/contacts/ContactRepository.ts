/** The repository of contacts: the methods of `ContactsService` that read and write them on SQL. */
import {
  type AddOptions,
  checkAddSize,
  checkFilter,
  checkPlaces,
  ContactFilter,
  ContactNotFound,
  ContactPayload,
  type ContactsService,
  ContactUpdatePayload,
  canonicalEmail,
  fnRedacted,
  InvalidInput,
  maximumContactsPerAdd,
  maximumEmailsPerDelete,
  selectsEveryContact,
  TooManyContacts,
  validated
} from "@roster/domain"
import { DateTime, Effect, identity, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { encoded } from "../store/AnswerEncoding.ts"
import { preparedQuery } from "../store/SqlDialect.ts"
import { inTransaction, sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { asShortCall } from "../store/postgres/PostgresOptions.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { storeClock } from "../store/StoreClock.ts"
import { eachInSlices } from "../threads/Slices.ts"
import { deleteEveryone, deleteIdentities, deleteSelected } from "./ContactDeletion.ts"
import { mergeContact } from "./ContactMerge.ts"
import { contactsByIds, LargeAnswer, makePages } from "./ContactPagination.ts"
import { contactColumns, toContact } from "./ContactRow.generated.ts"
import { addToLists, beyondLists, ensureLists, upsertContacts } from "./ContactUpsert.ts"
import {
  checkContacts,
  checkEmail,
  checkEmails,
  checkListNames,
  checkMerged,
  checkTexts,
  listsRefusal,
  mergedRefusal
} from "./ContactValidation.ts"
import { RuleScans } from "./RuleScans.ts"
import { hasRulesInSql, readRule, ruleSql } from "./RuleSql.ts"

/** An add or change of this many contacts takes less time than an fsync. */
export const maximumShared = 10

const readPayloads = validated(Schema.Array(ContactPayload))
const readChanges = validated(ContactUpdatePayload)

interface AddContactsOptions extends Omit<AddOptions, "idempotencyKey"> {
  /** Whether the contacts come from a request, whose body was decoded and bounded (default: false). */
  readonly isDecoded?: boolean
}

/**
 * Adds contacts, and gives what `answer` makes of what `read` makes of their rows, as they are in the end. The answer
 * is a part of the transaction.
 */
export const addContacts = Effect.fnUntraced(function* <W extends { readonly id: number }, A, R>(
  payloads: ReadonlyArray<ContactPayload>,
  { isDecoded = false, listNames = [], resubscribe = true }: AddContactsOptions,
  read: (row: ReadonlyArray<unknown>) => W,
  answer: (written: ReadonlyArray<W>) => Effect.Effect<A, SqlError.SqlError, R>
) {
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Caller
  if (Array.isArray(payloads) && payloads.length > maximumContactsPerAdd) {
    return yield* new TooManyContacts({ count: payloads.length, maximum: maximumContactsPerAdd })
  }
  yield* checkListNames("listNames", listNames)
  const contacts = isDecoded ? payloads : yield* readPayloads(payloads)
  yield* checkPlaces(contacts, listNames)
  if (!isDecoded) yield* checkAddSize(contacts)
  yield* checkContacts(contacts)
  const written = Effect.gen(function* () {
    const now = yield* storeClock(sql).seconds
    const lists = yield* ensureLists(account, listNames, "listNames")
    const identities = contacts.map(({ email }) => canonicalEmail(email))
    const beyond = yield* beyondLists(account, identities, lists)
    if (beyond.size > 0) {
      const index = identities.findIndex((identity) => beyond.has(identity))
      return yield* listsRefusal(`[${index}].listNames`)
    }
    const source = "ContactApi"
    const returned = { returning: contactColumns, read }
    const upserted = yield* upsertContacts({ account, contacts, identities, source, now, resubscribe, ...returned })
    const merged = yield* checkMerged(contacts, upserted)
    const ids = merged.map(({ id }) => id)
    yield* addToLists(account, lists, ids)
    // A later payload for the same address changes the answer to an earlier one.
    const last = new Map(merged.map((one) => [one.id, one]))
    return yield* answer(merged.map((one) => last.get(one.id) ?? one))
  })
  return yield* inTransaction(sql, written).pipe(contacts.length <= maximumShared ? sharingCommit : identity)
})

export const makeContactRepository = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const scans = yield* RuleScans
  const pages = yield* makePages
  const rulesInSql = hasRulesInSql(sql)
  const inStore = Effect.provideService(SqlClient.SqlClient, sql)
  const columns = sql.literal(contactColumns.join(", "))

  const find = preparedQuery(
    sql,
    sql`SELECT ${columns} FROM contacts WHERE account = ${"account"} AND identity = ${"identity"}`
  )

  const get = fnRedacted("ContactsService.get")(function* (email: string) {
    const { account } = yield* Caller
    yield* checkEmail("email", email)
    const [row] = yield* asShortCall(find([account, canonicalEmail(email)]))
    return row === undefined ? yield* new ContactNotFound({ email }) : toContact(row)
  }, orStoreFailure("contactsByEmailGet"))

  const list: ContactsService["Service"]["list"] = fnRedacted("ContactsService.list")(
    function* (page = {}) {
      const listed = yield* pages(page)
      return listed instanceof LargeAnswer ? yield* contactsByIds(listed.contacts.map(({ id }) => id)) : listed
    },
    inStore,
    orStoreFailure("contactsGet")
  )

  const add = fnRedacted("ContactsService.add")(
    function* (payloads: ReadonlyArray<ContactPayload>, options: Omit<AddOptions, "idempotencyKey"> = {}) {
      return yield* addContacts(
        payloads,
        options,
        (row) => ({ id: Number(row[0]), contact: toContact(row) }),
        (written) => Effect.succeed(written.map(({ contact }) => contact))
      )
    },
    inStore,
    orStoreFailure("contactsPost")
  )

  const update = fnRedacted("ContactsService.update")(function* (email: string, payload: ContactUpdatePayload) {
    const { account } = yield* Caller
    const changes = yield* readChanges(payload)
    yield* checkEmail("email", email)
    yield* checkTexts(changes)
    const merged = Effect.gen(function* () {
      const row = yield* mergeContact(account, canonicalEmail(email), changes, yield* storeClock(sql).seconds)
      if (row === undefined) return yield* new ContactNotFound({ email })
      return row === "TooLarge" ? yield* mergedRefusal(changes, "") : yield* encoded(toContact(row))
    })
    return yield* inStore(sharingCommit(sql.withTransaction(merged)))
  }, orStoreFailure("contactsByEmailPut"))

  const delete_ = fnRedacted("ContactsService.delete")(function* (email: string) {
    const { account } = yield* Caller
    yield* checkEmail("email", email)
    const deletion = sql`
      DELETE FROM contacts WHERE account = ${account} AND identity = ${canonicalEmail(email)} RETURNING id`
    const deleted = yield* sharingCommit(sql.withTransaction(deletion))
    if (deleted.length === 0) return yield* new ContactNotFound({ email })
  }, orStoreFailure("contactsByEmailDelete"))

  const deleteMany = fnRedacted("ContactsService.deleteMany")(
    function* (filter: ContactFilter) {
      const { account } = yield* Caller
      yield* checkFilter(filter)
      yield* ContactFilter.$match(filter, {
        ByEmails: Effect.fnUntraced(function* ({ emails }) {
          if (emails.length > maximumEmailsPerDelete) {
            const issue = `${emails.length} addresses in one request, but at most ${maximumEmailsPerDelete} are allowed`
            return yield* new InvalidInput({ field: "emails", issue })
          }
          yield* checkEmails("emails", emails)
          yield* deleteIdentities(account, yield* eachInSlices(emails, canonicalEmail))
        }),
        ByRule: Effect.fnUntraced(function* ({ rule }) {
          const read = yield* readRule(rule)
          if (read._tag !== "All" && selectsEveryContact(read)) {
            return yield* new InvalidInput({
              field: "rule",
              issue: "it selects every contact; use the rule All to select every contact"
            })
          }
          if (read._tag === "All") return yield* deleteEveryone(account)
          const now = yield* storeClock(sql).now
          const bounds = { operation: "contactsDeletePost", account, isDeletion: true }
          if (rulesInSql) {
            const selected = sql`account = ${account} AND ${ruleSql(sql, read, now)}`
            // Within the transaction, so that the time cannot be up in its COMMIT.
            yield* scans.bounded(bounds, sql`DELETE FROM contacts WHERE ${selected}`, sql.withTransaction)
            return
          }
          const asked = { account, rule: read, now: DateTime.toEpochMillis(now) }
          const all = { after: 0, offset: 0, limit: Number.POSITIVE_INFINITY }
          const ids = yield* scans.find(bounds, { ...asked, ...all })
          yield* deleteSelected(ids, read, now)
        })
      })
    },
    inStore,
    orStoreFailure("contactsDeletePost")
  )

  return { get, list, add, update, delete: delete_, deleteMany }
})
