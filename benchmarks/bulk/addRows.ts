/** One pass with the client of Roster: rows are checked and sent as they come. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { addRows } from "@roster/workflows"
import { readContacts } from "@roster/domain/ContactCsv"
import * as HttpContactsService from "@roster/http-client/HttpContactsService"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { whole } from "../src/Trial.ts"
import { apiKey, atOnce, baseUrl, file } from "./Work.ts"

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const rows = readContacts(files.stream(file))
  const { done, read } = yield* addRows(rows, { concurrency: atOnce })
  if (done !== read) return yield* Effect.die(new Error(`${done} of ${read} rows are done`))
  return done
})

const services = HttpContactsService.layer({ baseUrl, apiKey: Redacted.make(apiKey) }).pipe(
  Layer.provide(UndiciHttpClient.layer()),
  Layer.merge(NodeFileSystem.layer)
)

await whole(() => Effect.runPromise(Effect.provide(program, services)))
