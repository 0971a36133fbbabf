/** `ContactsService` on the database of a store. */
import {
  ChangeAnswerRecord,
  type ChangeOptions,
  Contact,
  ContactChange,
  ContactPayload,
  ContactsService,
  ContactStatus,
  type ExportLink,
  ExportNotFound,
  type ExportRequest,
  type HistoryPage,
  type ImportOptions,
  type ImportSource,
  InvalidInput,
  type KeyedCall,
  keptStatuses,
  Pagination,
  Resubscribe,
  checkedMethods
} from "@roster/domain"
import { checkIdempotencyKey, exactAnswer, fnRedacted, redactStreamSpans, ruleSource } from "@roster/domain/internal"
import { Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { changeContacts } from "../contacts/ContactChanges.ts"
import { readHistory } from "../contacts/ContactHistory.ts"
import { makeContactRepository } from "../contacts/ContactRepository.ts"
import { checkEmail } from "../contacts/ContactValidation.ts"
import type { RuleScans } from "../contacts/RuleScans.ts"
import { createExport, exportStatus, linkedPart, openFile, renewLink } from "../jobs/exports/ExportRequests.ts"
import * as WrittenSums from "../credentials/WrittenSums.ts"
import { acceptImport } from "../jobs/imports/ImportRequests.ts"
import { JobRunner } from "../jobs/worker/JobRunner.ts"
import { Caller } from "../credentials/Caller.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { makeStoreIds } from "../store/StoreId.ts"
import { StorePolicy } from "../store/StoreOptions.ts"
import { asItWas, keyedCalls } from "../credentials/KeyedCalls.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const repository = yield* makeContactRepository
  const jobs = yield* JobRunner
  const storeIdOf = yield* makeStoreIds
  const policy = yield* StorePolicy
  const inStore = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideService(SqlClient.SqlClient, sql), Effect.provideService(StorePolicy, policy))

  const addInput = Schema.Struct({
    listNames: Schema.Array(Schema.String),
    contacts: Schema.Array(ContactPayload),
    resubscribe: Schema.UndefinedOr(Resubscribe),
    only: Schema.UndefinedOr(Schema.String),
    defaultStatus: Schema.UndefinedOr(ContactStatus)
  })
  const addOnce = keyedCalls(sql, "contactsPost", addInput, asItWas(Schema.Array(Contact)))
  const add: ContactsService["Service"]["add"] = (contacts, options = {}) => {
    const { defaultStatus, listNames = [], only, resubscribe } = options
    return addOnce(
      options,
      () => ({ listNames, contacts, resubscribe, only, defaultStatus }),
      repository.add(contacts, options)
    )
  }

  const changeOnce = keyedCalls(
    sql,
    "contactsChangesPost",
    Schema.Array(ContactChange),
    asItWas(Schema.Array(ChangeAnswerRecord))
  )

  const exportOnce = keyedCalls(sql, "contactsExportPost", Schema.Unknown, {
    write: ({ id }: ExportLink) => id,
    read: ({ text }) => inStore(renewLink(text()))
  })

  const download: ContactsService["Service"]["download"] = (link) => {
    const of = linkedPart(link)
    return of === undefined
      ? Stream.fail(new InvalidInput({ field: "link", issue: "it is not the link of an export" }))
      : openFile(of).pipe(
          Effect.map((file) => file.read(0)),
          Stream.unwrap,
          Stream.catchTags({
            SqlError: (error) => Stream.fromEffect(orStoreFailure("download")(Effect.fail(error))),
            ExportNotFound: () => Stream.fail(new ExportNotFound({ id: link }))
          }),
          Stream.provideService(SqlClient.SqlClient, sql),
          redactStreamSpans
        )
  }

  return checkedMethods(ContactsService, {
    ...repository,
    storeId: Effect.map(Caller, ({ account }) => storeIdOf(account)),
    stream: ({ lists, offset, rule } = {}) =>
      Pagination.streamPages((page) => repository.list({ ...page, rule, lists }), offset),
    history: fnRedacted("ContactsService.history")(
      function* (email: string, page: HistoryPage = {}) {
        const { account } = yield* Caller
        yield* checkEmail("email", email)
        return yield* readHistory(account, email, page)
      },
      inStore,
      orStoreFailure("contactsByEmailHistoryGet")
    ),
    add,
    change: fnRedacted("ContactsService.change")(
      function* (changes: ReadonlyArray<ContactChange>, options: ChangeOptions = {}) {
        const answered = changeContacts(changes, options, (judged) =>
          Effect.succeed(judged.map(({ answer }) => answer))
        )
        const answers = yield* options.dryRun === true
          ? Effect.andThen(checkIdempotencyKey(options.idempotencyKey), answered)
          : changeOnce(options, () => changes, answered)
        return answers.map(exactAnswer)
      },
      inStore,
      orStoreFailure("contactsChangesPost")
    ),
    addWithoutAnswer: (contacts, options = {}) => {
      const some = Array.from(contacts)
      return Effect.map(add(some, options), (answered) => ({
        keptStatuses: options.resubscribe === undefined ? [] : keptStatuses(some, answered)
      }))
    },
    import: fnRedacted("ContactsService.import")(
      function* (source: ImportSource, options: ImportOptions = {}) {
        yield* acceptImport(source, options)
        yield* jobs.wake
        yield* jobs.settled
      },
      inStore,
      orStoreFailure("contactsImportPost")
    ),
    export: fnRedacted("ContactsService.export")(
      function* (request: ExportRequest = {}, options: KeyedCall = {}) {
        const link = yield* exportOnce(options, () => inputOf(request), createExport(request))
        // A call with an Idempotency-Key has a transaction, before whose end nobody sees the job.
        yield* sql.afterCommit(Effect.andThen(jobs.wake, jobs.settled))
        return link
      },
      inStore,
      orStoreFailure("contactsExportPost")
    ),
    exportStatus: fnRedacted("ContactsService.exportStatus")(
      function* (id: string) {
        return yield* exportStatus(id)
      },
      inStore,
      orStoreFailure("contactsExportByIdStatusGet")
    ),
    download
  })
})

/** An export as it is compared with another one of the same key. */
const inputOf = ({ compressionFormat, fileFormat, fileName, filter, lists }: ExportRequest) => ({
  compressionFormat,
  fileFormat,
  fileName,
  lists,
  filter: filter?._tag === "ByRule" ? { rule: ruleSource(filter.rule) } : filter
})

/** Provides `ContactsService` on the database of a store. */
export const layer: Layer.Layer<ContactsService, never, SqlClient.SqlClient | JobRunner | RuleScans | StorePolicy> =
  Layer.effect(ContactsService, make).pipe(Layer.provideMerge(WrittenSums.layer))
