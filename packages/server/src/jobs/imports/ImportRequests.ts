/** Accepts imports: receives the whole file, checks its header and creates the job. */
import {
  type ImportMapping,
  type ImportOptions,
  ImportRefused,
  ImportSource,
  InvalidInput,
  ListNotFound,
  readContacts
} from "@roster/domain"
import { isEncoding } from "@roster/domain/internal"
import { Effect, Exit, Schema, Stream } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { SqlClient } from "effect/sql"
import { Caller } from "../../credentials/Caller.ts"
import { findList } from "../../contacts/ListMembers.ts"
import { checkListNames } from "../../contacts/ContactValidation.ts"
import { checkUrl } from "../../network/AllowedUrls.ts"
import { checkArchive, contentOf } from "./ImportFile.ts"
import { importJob, ImportJobRequest, mappingOf } from "./ImportJob.ts"
import { createJob } from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import { readParts, removeAllParts, storeParts } from "../queue/JobBlobs.ts"
import { checkQuota, filesFull } from "../queue/JobQuotas.ts"
import { asCaller } from "../../credentials/CallerCheck.ts"
import { openRun } from "../../runs/RunRecorder.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"
import { yieldToEventLoop } from "../../threads/Slices.ts"

const operation = "contactsImportPost"

const encodeRequest = Schema.encodeEffect(ImportJobRequest)

/** Reads up to the first row, part by part between which others are answered, so that a file without a column of addresses is refused while its sender waits. */
const checkHeader = Effect.fnUntraced(function* (job: number, mapping: ImportMapping) {
  const sql = yield* SqlClient.SqlClient
  yield* checkArchive(job).pipe(
    Effect.andThen(
      contentOf(readParts(sql, job)).pipe(
        Stream.tap(() => yieldToEventLoop),
        (content) => Stream.runDrain(Stream.take(readContacts(content, mapping), 1))
      )
    ),
    Effect.catchTag("UnreadableFile", (error) => Effect.fail(new ImportRefused({ reason: error.message })))
  )
})

/** Receives the whole file before the import is accepted. A file that breaks off is removed. */
const receive = Effect.fnUntraced(function* (
  job: number,
  source: Extract<ImportSource, { readonly _tag: "File" }>,
  options: ImportOptions
) {
  const sql = yield* SqlClient.SqlClient
  const cancelled = new ImportRefused({ reason: "it was cancelled while its file was received" })
  // An update, since other databases do not lock what they read.
  const receiving = Effect.flatMap(
    sql`UPDATE jobs SET state = 'Receiving' WHERE number = ${job} AND state = 'Receiving' RETURNING number`,
    (held): Effect.Effect<void, ImportRefused> => (held.length === 1 ? Effect.void : Effect.fail(cancelled))
  )
  yield* storeParts(job, source.content, receiving).pipe(
    Effect.catchTag("FilesFull", () => Effect.fail(filesFull(operation, importJob))),
    Effect.andThen(checkHeader(job, mappingOf(options))),
    Effect.andThen(
      asCaller(
        sql,
        operation,
        sql`UPDATE jobs SET state = 'Loading' WHERE number = ${job} AND state = 'Receiving' RETURNING number`
      )
    ),
    Effect.flatMap((taken) => (taken.length === 1 ? Effect.void : Effect.fail(cancelled))),
    Effect.catchTag("PartMissing", () => Effect.fail(cancelled)),
    // A cancelled job keeps its row.
    Effect.onExit((exit) =>
      Exit.isSuccess(exit)
        ? Effect.void
        : Effect.ignore(
            Effect.andThen(
              removeAllParts(job, Effect.void),
              sql`DELETE FROM jobs WHERE number = ${job} AND state = 'Receiving'`
            )
          )
    )
  )
})

/** Creates the job of an import once its file has been received and its header checked. */
export const acceptImport = Effect.fnUntraced(function* (source: ImportSource, options: ImportOptions) {
  const { account, key } = yield* Caller
  const { allowFileUrl } = yield* StorePolicy
  const { encodingName, listName, resubscribe } = options
  if (encodingName !== undefined && !isEncoding(encodingName)) {
    return yield* new InvalidInput({
      field: "encodingName",
      issue: "no encoding has this name; utf-8 and windows-1252 are such names"
    })
  }
  if (listName !== undefined) {
    yield* checkListNames("listName", [listName])
    if ((yield* findList(account, listName)) === undefined) return yield* new ListNotFound({ name: listName })
  }
  if (ImportSource.$is("Address")(source)) yield* checkUrl(source.url, allowFileUrl)
  const request = yield* encodeRequest({
    ...(listName === undefined ? {} : { listName }),
    ...(encodingName === undefined ? {} : { encodingName }),
    ...(resubscribe === undefined || resubscribe === false ? {} : { resubscribe }),
    ...(source._tag === "Address" ? { fileUrl: source.url } : { fileName: source.name })
  }).pipe(Effect.orDie)
  const job: Parameters<typeof createJob>[0] = {
    id: (yield* WebCrypto).randomUUID(),
    account,
    kind: importJob.kind,
    creator: key?.id ?? null,
    ...(source._tag === "File" ? { state: "Receiving", lease: yield* makeLease } : { state: "Loading" }),
    request
  }
  const sql = yield* SqlClient.SqlClient
  const create = Effect.gen(function* () {
    yield* checkQuota(operation, account, importJob)
    const run = yield* openRun
    return yield* createJob(run === undefined ? job : { ...job, run: run.number })
  })
  const number = yield* asCaller(sql, operation, create)
  if (ImportSource.$is("File")(source)) yield* receive(number, source, options)
})
