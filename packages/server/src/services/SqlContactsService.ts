/**
 * Contacts on SQL.
 */
import {
  checkFilter,
  ContactFilter,
  ContactNotFound,
  ContactPayload,
  ContactsService,
  ContactUpdatePayload,
  canonicalEmail,
  ExportNotFound,
  fnRedacted,
  InvalidInput,
  maximumEmailsPerDelete,
  redactStreamSpans,
  selectsEveryContact,
  streamPages
} from "@roster/domain"
import { Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { createExport, fileKeyOf, lookAtExport, openFile } from "../jobs/exports/ExportRequests.ts"
import { acceptImport } from "../jobs/imports/ImportRequests.ts"
import { checkEmail } from "../contacts/ContactValidation.ts"
import { toContact } from "../contacts/ContactRow.ts"
import { makeContactRows } from "../contacts/ContactRepository.ts"
import { readRule, selection } from "../contacts/ContactSelection.ts"
import { delivered } from "./WirePayload.ts"
import { JobRunner } from "../jobs/worker/JobRunner.ts"
import { methodSpan } from "../http/MethodSpan.ts"
import { sharingCommit } from "../store/sqlite/GroupCommit.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { StorePolicy } from "../store/StoreOptions.ts"

const readPayloads = delivered(Schema.Array(ContactPayload))
const readChanges = delivered(ContactUpdatePayload)

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* makeContactRows
  const jobs = yield* JobRunner
  const policy = yield* StorePolicy
  const inStore = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideService(SqlClient.SqlClient, sql), Effect.provideService(StorePolicy, policy))

  const list: ContactsService["Service"]["list"] = (page = {}) =>
    Effect.map(rows.list(page), (page) => page.map(toContact))

  const delete_: ContactsService["Service"]["delete"] = fnRedacted("ContactsService.delete")(function* (email) {
    const { account } = yield* Caller
    yield* checkEmail("email", email)
    const deletion = sql`
      DELETE FROM contacts WHERE account = ${account} AND identity = ${canonicalEmail(email)} RETURNING id`
    const deleted = yield* sharingCommit(sql.withTransaction(deletion))
    if (deleted.length === 0) return yield* new ContactNotFound({ email })
  }, orStoreFailure("contactsByEmailDelete"))

  const deleteMany: ContactsService["Service"]["deleteMany"] = fnRedacted("ContactsService.deleteMany")(
    function* (filter) {
      const { account } = yield* Caller
      yield* checkFilter(filter, "body")
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

  const import_: ContactsService["Service"]["import"] = fnRedacted("ContactsService.import")(
    function* (source, options = {}) {
      yield* acceptImport(source, options)
      yield* jobs.wake
    },
    inStore,
    orStoreFailure("contactsImportPost")
  )

  const export_: ContactsService["Service"]["export"] = fnRedacted("ContactsService.export")(
    function* (request = {}) {
      const link = yield* createExport(request)
      yield* jobs.wake
      return link
    },
    inStore,
    orStoreFailure("contactsExportPost")
  )

  const exportStatus: ContactsService["Service"]["exportStatus"] = (id) =>
    lookAtExport(id).pipe(
      inStore,
      orStoreFailure("contactsExportByIdStatusGet"),
      methodSpan("ContactsService.exportStatus")
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
          Stream.provideService(SqlClient.SqlClient, sql),
          redactStreamSpans()
        )
  }

  return ContactsService.of({
    get: (email) => Effect.map(rows.get(email), toContact),
    list,
    stream: ({ offset, rule } = {}) => streamPages((page) => list({ ...page, rule }), offset),
    add: (contacts, options = {}) =>
      Effect.map(rows.add(contacts, options, readPayloads), (added) => added.map(toContact)),
    addWithoutAnswer: (contacts, options = {}) => Effect.asVoid(rows.add(Array.from(contacts), options, readPayloads)),
    update: (email, changes) => Effect.map(rows.update(email, changes, readChanges), toContact),
    delete: delete_,
    deleteMany,
    import: import_,
    export: export_,
    exportStatus,
    download
  })
})

export const layer: Layer.Layer<ContactsService, never, SqlClient.SqlClient | JobRunner | StorePolicy> = Layer.effect(
  ContactsService,
  make
)
