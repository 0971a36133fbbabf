/**
 * Contacts on SQL as their rows: what `ContactsService` gives as contacts, and what is answered over HTTP as text.
 */
import {
  checkPage,
  ContactFilter,
  ContactNotFound,
  type ContactPayload,
  type ContactRule,
  type ContactUpdatePayload,
  canonicalEmail,
  fnRedacted,
  InvalidInput,
  maximumContactsPerAdd,
  TooManyContacts
} from "@roster/domain"
import { Context, Effect, identity } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { checkContacts, checkEmail, checkTexts } from "./ContactValidation.ts"
import { pageOfAll } from "./ContactPagination.ts"
import { contactColumns, type ContactRow, contactRowOf, contactRowsOf, readContacts } from "./ContactRow.ts"
import { selection } from "./ContactSelection.ts"
import { addToLists, ensureLists, upsertContacts } from "./ContactUpsert.ts"
import { methodSpan } from "../http/MethodSpan.ts"
import { dialect, preparedQuery } from "../store/SqlDialect.ts"
import { inTransaction, sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { nowSeconds } from "../store/Timestamps.ts"

const defaultPage = 20

/** So many contacts are written in less time than a sync takes. */
const mostShared = 10

const isListName = (name: unknown): boolean =>
  typeof name === "string" && name.trim() !== "" && name.isWellFormed() && !/\p{Cc}/u.test(name)

const checkListNames = (names: ReadonlyArray<string>) =>
  Array.isArray(names) && names.every(isListName)
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          field: "listnames",
          issue: "the name of a list is not blank and holds no control characters"
        })
      )

/** Makes a payload of what the caller gave, where that is not one already: `delivered`. */
type Read<A> = (given: A) => Effect.Effect<A, InvalidInput>

/**
 * The methods of `ContactsService` that give contacts. Payloads are what the contract makes of a request, unless the caller
 * says how they are read.
 */
export const makeContactRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inStore = Effect.provideService(SqlClient.SqlClient, sql)
  const columns = sql.literal(contactColumns.join(", "))

  const find = preparedQuery(
    sql,
    sql`SELECT ${columns} FROM contacts WHERE account = ${"account"} AND identity = ${"identity"}`
  )

  const orFailureOfGet = orStoreFailure("contactsByEmailGet")
  const asGet = methodSpan("ContactsService.get")

  // The one that is called most, by far: it is looked for in few steps.
  const get = (email: string) =>
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.flatMapEager(checkEmail("email", email), () =>
        Effect.flatMap(find([Context.get(context, Caller).account, canonicalEmail(email)]), (rows) => {
          const [row] = contactRowsOf(rows)
          return row === undefined ? Effect.fail(new ContactNotFound({ email })) : Effect.succeed(row)
        })
      )
    ).pipe(orFailureOfGet, asGet)

  const list = Effect.fnUntraced(
    function* (page: {
      readonly limit?: number | undefined
      readonly offset?: number | undefined
      readonly rule?: ContactRule | undefined
    }) {
      const { account } = yield* Caller
      yield* checkPage(page)
      const { limit = defaultPage, offset = 0, rule } = page
      if (rule === undefined) return yield* pageOfAll(account, { limit, offset })
      const where = yield* selection(account, ContactFilter.ByRule({ rule }))
      const rows = sql`SELECT ${columns} FROM contacts WHERE ${where} ORDER BY id LIMIT ${limit} OFFSET ${offset}`
      return yield* readContacts(rows.values)
    },
    inStore,
    orStoreFailure("contactsGet"),
    methodSpan("ContactsService.list")
  )

  const add = Effect.fnUntraced(
    function* (
      given: ReadonlyArray<ContactPayload>,
      options: { readonly listNames?: ReadonlyArray<string> | undefined },
      read: Read<ReadonlyArray<ContactPayload>> = Effect.succeed
    ) {
      const { account } = yield* Caller
      const { listNames = [] } = options
      if (Array.isArray(given) && given.length > maximumContactsPerAdd) {
        return yield* new TooManyContacts({ count: given.length, maximum: maximumContactsPerAdd })
      }
      yield* checkListNames(listNames)
      const contacts = yield* read(given)
      yield* checkContacts(contacts)
      const now = yield* nowSeconds
      const written = Effect.gen(function* () {
        const lists = yield* ensureLists(account, listNames)
        const source = "ContactApi"
        const values = yield* upsertContacts({ account, contacts, source, now, returning: contactColumns })
        const rows = values.map(contactRowOf)
        yield* addToLists(lists, rows)
        return rows
      })
      const rows = yield* inTransaction(sql, written).pipe(contacts.length <= mostShared ? sharingCommit : identity)
      // A later row of the same address changes the answer to an earlier one.
      const saved = new Map(rows.map((row) => [row.id, row]))
      return saved.size === rows.length ? rows : rows.map((row) => saved.get(row.id) ?? row)
    },
    inStore,
    orStoreFailure("contactsPost"),
    methodSpan("ContactsService.add")
  )

  const update = fnRedacted("ContactsService.update")(function* (
    email: string,
    given: ContactUpdatePayload,
    read: Read<ContactUpdatePayload> = Effect.succeed
  ) {
    const { account } = yield* Caller
    const changes = yield* read(given)
    yield* checkEmail("email", email)
    yield* checkTexts(changes)
    const { customFields, firstName = null, lastName = null } = changes
    const merged = dialect(sql).mergeFields(sql`custom_fields`, sql`${JSON.stringify(customFields ?? {})}`)
    const written = sql<ContactRow>`
      UPDATE contacts SET
        first_name = coalesce(${firstName}, first_name),
        last_name = coalesce(${lastName}, last_name),
        custom_fields = ${merged},
        date_updated = ${yield* nowSeconds}
      WHERE account = ${account} AND identity = ${canonicalEmail(email)} RETURNING *`
    const [row] = yield* sharingCommit(sql.withTransaction(written))
    return row ?? (yield* new ContactNotFound({ email }))
  }, orStoreFailure("contactsByEmailPut"))

  return { get, list, add, update }
})
