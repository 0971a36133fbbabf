import {
  ContactsService,
  ExportNotFound,
  type ExportRequest,
  fnRedacted,
  type ImportOptions,
  type ImportSource,
  InvalidInput,
  Pagination,
  redactStreamSpans
} from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { makeContactRepository } from "../contacts/ContactRepository.ts"
import type { RuleScans } from "../contacts/RuleScans.ts"
import { createExport, fileKeyOf, lookAtExport, openFile } from "../jobs/exports/ExportRequests.ts"
import { acceptImport } from "../jobs/imports/ImportRequests.ts"
import { JobRunner } from "../jobs/worker/JobRunner.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"
import { StorePolicy } from "../store/StoreOptions.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const repository = yield* makeContactRepository
  const jobs = yield* JobRunner
  const policy = yield* StorePolicy
  const inStore = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideService(SqlClient.SqlClient, sql), Effect.provideService(StorePolicy, policy))

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
          redactStreamSpans
        )
  }

  return ContactsService.of({
    ...repository,
    stream: ({ offset, rule } = {}) => Pagination.streamPages((page) => repository.list({ ...page, rule }), offset),
    addWithoutAnswer: (contacts, options) => Effect.asVoid(repository.add(Array.from(contacts), options)),
    import: fnRedacted("ContactsService.import")(
      function* (source: ImportSource, options: ImportOptions = {}) {
        yield* acceptImport(source, options)
        yield* jobs.wake
      },
      inStore,
      orStoreFailure("contactsImportPost")
    ),
    export: fnRedacted("ContactsService.export")(
      function* (request: ExportRequest = {}) {
        const link = yield* createExport(request)
        yield* jobs.wake
        return link
      },
      inStore,
      orStoreFailure("contactsExportPost")
    ),
    exportStatus: fnRedacted("ContactsService.exportStatus")(
      lookAtExport,
      inStore,
      orStoreFailure("contactsExportByIdStatusGet")
    ),
    download
  })
})

/** Provides `ContactsService` on the database of a store. */
export const layer: Layer.Layer<ContactsService, never, SqlClient.SqlClient | JobRunner | RuleScans | StorePolicy> =
  Layer.effect(ContactsService, make)
