/**
 * Contacts on SQL.
 */
import {
  type Contact,
  ContactFilter,
  ContactNotFound,
  ContactsService,
  emailIdentity,
  ExportNotFound,
  InvalidInput,
  maximumContactsPerAdd,
  maximumContactsPerPage,
  maximumEmailsPerDelete,
  selectsEveryContact,
  streamPages,
  TooManyContacts
} from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "./Caller.ts"
import { createExport, fileKeyOf, lookAtExport, openFile } from "./ContactExports.ts"
import { acceptImport } from "./ContactImports.ts"
import { checkEmail, checkTexts } from "./ContactInput.ts"
import { pageOfAll } from "./ContactOffsets.ts"
import { type ContactRow, toContact } from "./ContactRow.ts"
import { readRule, selection } from "./ContactSelection.ts"
import { addToList, ensureLists, upsertContact } from "./ContactWrites.ts"
import { nowSeconds } from "./Job.ts"
import { JobRunner } from "./JobRunner.ts"
import { dialect } from "./SqlDialect.ts"
import { orStoreFailure } from "./StoreFailure.ts"
import { StorePolicy } from "./StoreOptions.ts"

const defaultPage = 20

const checkCount = (field: string, count: number) =>
  Number.isSafeInteger(count) && count >= 0
    ? Effect.void
    : Effect.fail(new InvalidInput({ field, issue: "it is a whole number from 0 on" }))

const checkListNames = (names: ReadonlyArray<string>) =>
  names.every((name) => name.trim() !== "" && name.isWellFormed() && !/\p{Cc}/u.test(name))
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          field: "listnames",
          issue: "the name of a list is not blank and holds no control characters"
        })
      )

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const jobs = yield* JobRunner
  const policy = yield* StorePolicy
  const inStore = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideService(SqlClient.SqlClient, sql), Effect.provideService(StorePolicy, policy))

  const get = Effect.fn("ContactsService.get")(function* (email: string) {
    const { account } = yield* Caller
    yield* checkEmail("email", email)
    const [row] = yield* sql<ContactRow>`
      SELECT * FROM contacts WHERE account = ${account} AND identity = ${emailIdentity(email)}`
    return row === undefined ? yield* new ContactNotFound({ email }) : toContact(row)
  }, orStoreFailure("contactsByEmailGet"))

  const list: ContactsService["Service"]["list"] = Effect.fn("ContactsService.list")(
    function* (page = {}) {
      const { account } = yield* Caller
      const { limit = defaultPage, offset = 0, rule } = page
      yield* checkCount("limit", limit)
      yield* checkCount("offset", offset)
      const count = Math.min(limit, maximumContactsPerPage)
      if (rule === undefined) return (yield* pageOfAll(account, { limit: count, offset })).map(toContact)
      const where = yield* selection(account, ContactFilter.ByRule({ rule }))
      const rows = yield* sql<ContactRow>`
      SELECT * FROM contacts WHERE ${where} ORDER BY id LIMIT ${count} OFFSET ${offset}`
      return rows.map(toContact)
    },
    inStore,
    orStoreFailure("contactsGet")
  )

  const add: ContactsService["Service"]["add"] = Effect.fn("ContactsService.add")(
    function* (contacts, options = {}) {
      const { account } = yield* Caller
      const { listNames = [] } = options
      if (contacts.length > maximumContactsPerAdd) {
        return yield* new TooManyContacts({ count: contacts.length, maximum: maximumContactsPerAdd })
      }
      yield* checkListNames(listNames)
      yield* Effect.forEach(
        contacts,
        (contact, index) =>
          Effect.andThen(checkEmail(`[${index}].Email`, contact.email), checkTexts(contact, `[${index}].`)),
        { discard: true }
      )
      const now = yield* nowSeconds
      // A later row of the same address changes the answer to an earlier one.
      const saved = new Map<string, Contact>()
      yield* sql.withTransaction(
        Effect.gen(function* () {
          const lists = yield* ensureLists(account, listNames)
          for (const contact of contacts) {
            const row = yield* upsertContact({ account, contact, source: "ContactApi", now })
            yield* Effect.forEach(lists, (list) => addToList(list, row.id), { discard: true })
            saved.set(row.identity, toContact(row))
          }
        })
      )
      return contacts.flatMap((contact) => saved.get(emailIdentity(contact.email)) ?? [])
    },
    inStore,
    orStoreFailure("contactsPost")
  )

  const update: ContactsService["Service"]["update"] = Effect.fn("ContactsService.update")(function* (email, changes) {
    const { account } = yield* Caller
    yield* checkEmail("email", email)
    yield* checkTexts(changes)
    const { customFields, firstName = null, lastName = null } = changes
    const merged = dialect(sql).mergeFields(sql`custom_fields`, sql`${JSON.stringify(customFields ?? {})}`)
    const [row] = yield* sql<ContactRow>`
      UPDATE contacts SET
        first_name = coalesce(${firstName}, first_name),
        last_name = coalesce(${lastName}, last_name),
        custom_fields = ${merged},
        date_updated = ${yield* nowSeconds}
      WHERE account = ${account} AND identity = ${emailIdentity(email)} RETURNING *`
    return row === undefined ? yield* new ContactNotFound({ email }) : toContact(row)
  }, orStoreFailure("contactsByEmailPut"))

  const delete_: ContactsService["Service"]["delete"] = Effect.fn("ContactsService.delete")(function* (email) {
    const { account } = yield* Caller
    yield* checkEmail("email", email)
    const deleted = yield* sql`
      DELETE FROM contacts WHERE account = ${account} AND identity = ${emailIdentity(email)} RETURNING id`
    if (deleted.length === 0) return yield* new ContactNotFound({ email })
  }, orStoreFailure("contactsByEmailDelete"))

  const deleteMany: ContactsService["Service"]["deleteMany"] = Effect.fn("ContactsService.deleteMany")(
    function* (filter) {
      const { account } = yield* Caller
      yield* ContactFilter.$match(filter, {
        ByEmails: Effect.fnUntraced(function* ({ emails }) {
          if (emails.length > maximumEmailsPerDelete) {
            const issue = `${emails.length} addresses in one request, but at most ${maximumEmailsPerDelete} are allowed`
            return yield* new InvalidInput({ field: "Emails", issue })
          }
          yield* Effect.forEach(emails, (email, index) => checkEmail(`Emails[${index}]`, email), { discard: true })
        }),
        ByRule: Effect.fnUntraced(function* ({ rule }) {
          const read = yield* readRule(rule)
          if (read._tag !== "All" && selectsEveryContact(read)) {
            return yield* new InvalidInput({
              field: "Rule",
              issue: "it selects every contact; whoever means that says All"
            })
          }
        })
      })
      yield* sql`DELETE FROM contacts WHERE ${yield* selection(account, filter)}`
    },
    inStore,
    orStoreFailure("contactsDeletePost")
  )

  const import_: ContactsService["Service"]["import"] = Effect.fn("ContactsService.import")(
    function* (source, options = {}) {
      yield* acceptImport(source, options)
      yield* jobs.wake
    },
    inStore,
    orStoreFailure("contactsImportPost")
  )

  const export_: ContactsService["Service"]["export"] = Effect.fn("ContactsService.export")(
    function* (request = {}) {
      const link = yield* createExport(request)
      yield* jobs.wake
      return link
    },
    inStore,
    orStoreFailure("contactsExportPost")
  )

  const exportStatus: ContactsService["Service"]["exportStatus"] = Effect.fn("ContactsService.exportStatus")(
    lookAtExport,
    inStore,
    orStoreFailure("contactsExportByIdStatusGet")
  )

  const download: ContactsService["Service"]["download"] = (link) => {
    const fileKey = fileKeyOf(link)
    return fileKey === undefined
      ? Stream.fail(new InvalidInput({ field: "link", issue: "it is not the link of an export" }))
      : openFile(fileKey).pipe(
          Effect.map((file) => file.read(0)),
          Stream.unwrap,
          Stream.catchTags({
            SqlError: (error) => Stream.fromEffect(orStoreFailure("download")(Effect.fail(error))),
            ExportNotFound: () => Stream.fail(new ExportNotFound({ id: link }))
          }),
          Stream.provideService(SqlClient.SqlClient, sql)
        )
  }

  return ContactsService.of({
    get,
    list,
    stream: ({ offset, rule } = {}) => streamPages((page) => list({ ...page, rule }), offset),
    add,
    update,
    delete: delete_,
    deleteMany,
    import: import_,
    export: export_,
    exportStatus,
    download
  })
})

/**
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<ContactsService, never, SqlClient.SqlClient | JobRunner | StorePolicy> = Layer.effect(
  ContactsService,
  make
)
