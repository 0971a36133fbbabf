/**
 * The whole promise of an import with the client of Roster: a first look that finds what is wrong and what stands there
 * twice, then the sending, without a record, since the sink has no contacts to read.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { readContacts } from "@roster/domain"
import { makeImport, RunLog, surveyContacts } from "@roster/workflows"
import * as HttpContactsService from "@roster/http-client/HttpContactsService"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { whole } from "../src/Trial.ts"
import { apiKey, atOnce, baseUrl, file } from "./Work.ts"

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const rows = readContacts(files.stream(file))
  const importing = yield* makeImport(rows, yield* surveyContacts(rows), { concurrency: atOnce, record: false })
  yield* importing.apply()
  const { done, read } = yield* importing.report
  if (done !== read) return yield* Effect.die(new Error(`${done} of ${read} rows were accepted`))
  return done
}).pipe(Effect.scoped)

const services = HttpContactsService.layer({ baseUrl, apiKey: Redacted.make(apiKey) }).pipe(
  Layer.provide(UndiciHttpClient.layer()),
  Layer.merge(NodeServices.layer),
  Layer.merge(RunLog.layerMemory())
)

await whole(() => Effect.runPromise(Effect.provide(program, services)))
