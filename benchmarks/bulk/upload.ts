/**
 * The whole promise of an upload with the client of Roster: a first look that finds what is wrong and what stands there
 * twice, then the sending, with a journal beside the file as that of `roster contacts import`.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { readContacts } from "@roster/domain"
import { uploadContacts } from "@roster/workflows/former"
import * as HttpContactsService from "@roster/http-client/HttpContactsService"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { uploadJournalFile } from "../../packages/cli/src/commands/contacts/import/UploadJournalFile.ts"
import { whole } from "../src/Trial.ts"
import { apiKey, atOnce, baseUrl, file } from "./Work.ts"

const identity = { sha256: "", bytes: 0, target: "the sink", listNames: [], columns: [] }

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(import.meta.dirname, "../journal-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )
  const rows = readContacts(files.stream(file))
  const lines = yield* uploadJournalFile(join(folder, "contacts.csv"))
  const { accepted, read } = yield* uploadContacts(rows, { concurrency: atOnce, journal: { lines, identity } })
  if (accepted !== read) return yield* Effect.die(new Error(`${accepted} of ${read} rows were accepted`))
  return accepted
})

const services = HttpContactsService.layer({ baseUrl, apiKey: Redacted.make(apiKey) }).pipe(
  Layer.provide(UndiciHttpClient.layer()),
  Layer.merge(NodeServices.layer)
)

await whole(() => Effect.runPromise(Effect.scoped(Effect.provide(program, services))))
