/**
 * Every function that takes options refuses one that it does not have, by its name, before it does anything: the services here
 * die at any call, and no store is opened.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { layerTestContacts, layerTestCredentials, parseRule, readContacts } from "@roster/domain"
import { FetchTransport, RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import {
  EmbeddedHttpClient,
  RosterServer,
  SqliteClient,
  SqlServices,
  StoreBackup,
  StoreUpgrade,
  StudioServer
} from "@roster/server"
import {
  addAll,
  addRows,
  auditApiKeys,
  awaitExport,
  changeAsRun,
  exportTo,
  importCommand,
  importContacts,
  importWarnings,
  makeImport,
  makeImportPlan,
  planConversion,
  planDelete,
  planImport,
  planUpdate,
  prepareFile,
  previewUndo,
  rotateApiKey,
  rotateSmtp,
  RunLog,
  surveyContacts,
  undoRun
} from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { workbookToCsv } from "@roster/workflows/Workbook"
import { Arbitrary, Effect, Layer, Predicate, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { unchecked } from "../../src/conformance/cases/Unchecked.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"

const services = Layer.mergeAll(
  layerTestContacts({}),
  layerTestCredentials({}),
  RunLog.layerMemory(),
  NodeServices.layer,
  FetchHttpClient.layer
)

/** A call with options from plain JavaScript. */
type Call = (options: never) => Effect.Effect<unknown, unknown, Layer.Success<typeof services>>

const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))
const survey = Effect.provide(surveyContacts(rows), services)
const build = (layer: Layer.Layer<never, unknown, Layer.Success<typeof services>> | Layer.Layer<unknown, unknown>) =>
  Effect.scoped(Layer.build(layer))
const plan = Effect.scoped(planDelete(Stream.empty))
const memory = ":memory:"
const service = {
  baseUrl: "http://127.0.0.1:1/v4",
  key: Redacted.make("k"),
  apiKeyHeader: undefined,
  apiKeyPrefix: undefined
}
const deliver = () => Effect.void

/** Each function with one of its options. */
const functions: ReadonlyArray<readonly [name: string, option: string, call: Call]> = [
  ["addAll", "resubscribe", (options) => Stream.runDrain(addAll(Stream.empty, options))],
  ["addRows", "listNames", (options) => addRows(rows, options)],
  ["surveyContacts", "maximumRows", (options) => surveyContacts(rows, options)],
  ["importContacts", "resubscribe", (options) => importContacts(rows, options)],
  ["makeImport", "record", (options) => Effect.scoped(Effect.flatMap(survey, (is) => makeImport(rows, is, options)))],
  ["planImport", "listNames", (options) => Effect.scoped(planImport(rows, options))],
  [
    "makeImportPlan",
    "resubscribe",
    (options) => Effect.scoped(Effect.flatMap(survey, (is) => makeImportPlan(rows, is, options)))
  ],
  [
    "importWarnings",
    "defaultStatus",
    (options) => Effect.scoped(Effect.flatMap(survey, (is) => importWarnings(rows, is, options)))
  ],
  ["planUpdate", "resubscribe", (options) => planUpdate(Stream.empty, { firstName: "A" }, options)],
  ["planDelete", "storage", (options) => planDelete(Stream.empty, options)],
  ["planConversion", "onProgress", (options) => planConversion(Stream.empty, {}, options)],
  ["Plan.applyWith", "concurrency", (options) => Effect.flatMap(plan, ({ applyWith }) => applyWith(options))],
  ["Plan.verifyWith", "snapshot", (options) => Effect.flatMap(plan, ({ verifyWith }) => verifyWith(options))],
  ["undoRun", "resubscribe", (options) => Effect.scoped(undoRun("1", options))],
  ["previewUndo", "fields", (options) => previewUndo("1", options)],
  ["changeAsRun", "command", (options) => changeAsRun({ email: "a@example.com", write: {} }, options)],
  ["the change of changeAsRun", "write", (change) => changeAsRun(change, { command: "set" })],
  ["RunLog.open", "command", (options) => Effect.scoped(Effect.flatMap(RunLog, (log) => log.open(options)))],
  ["RunLog.layerMemory", "storeId", (options) => Effect.try(() => RunLog.layerMemory(options))],
  [
    "RunFiles.layer",
    "keptFor",
    (options) => Effect.try(() => RunFiles.layer({ folder: "no.runs", target: memory, ...unchecked<object>(options) }))
  ],
  ["exportTo", "onStart", (options) => exportTo({}, () => Effect.void, options)],
  ["awaitExport", "schedule", (options) => awaitExport("3fa85f64-5717-4562-b3fc-2c963f66afa6", options)],
  ["prepareFile", "reserve", (options) => Effect.scoped(prepareFile("unknownOptions.never", options))],
  [
    "rotateApiKey",
    "subaccount",
    (options) => rotateApiKey("ci", unchecked({ deliver, ...unchecked<object>(options) }))
  ],
  [
    "rotateSmtp",
    "grace",
    (options) => rotateSmtp("a@example.com", unchecked({ deliver, ...unchecked<object>(options) }))
  ],
  ["workbookToCsv", "sheet", (options) => Stream.runDrain(workbookToCsv(Stream.empty, options))],
  ["auditApiKeys", "unusedFor", (options) => Effect.try(() => auditApiKeys([], options))],
  ["importCommand", "listNames", (options) => Effect.try(() => importCommand("a.csv", options))],
  ["parseRule", "customFields", (options) => Effect.try(() => parseRule("All", options))],
  ["FetchTransport.layer", "maximumResponseBytes", (options) => Effect.try(() => FetchTransport.layer(options))],
  ["UndiciHttpClient.layer", "connections", (options) => build(UndiciHttpClient.layer(options))],
  [
    "RosterClient.make",
    "apiKeyHeader",
    (options) => RosterClient.make(unchecked({ baseUrl: service.baseUrl, ...unchecked<object>(options) }))
  ],
  [
    "the retries of RosterClient.make",
    "retry.attempts",
    (options) => RosterClient.make({ baseUrl: service.baseUrl, retry: options })
  ],
  [
    "SqlServices.layer",
    "allowedSenders",
    (options) => build(SqlServices.layer({ filename: memory, ...unchecked<object>(options) }))
  ],
  [
    "EmbeddedHttpClient.layer",
    "ruleDeadline",
    (options) => build(EmbeddedHttpClient.layer({ filename: memory, ...unchecked<object>(options) }))
  ],
  [
    "SqliteClient.layer",
    "readonly",
    (options) => build(SqliteClient.layer({ filename: memory, ...unchecked<object>(options) }))
  ],
  [
    "SqlServices.layerPostgres",
    "jobThread",
    (options) =>
      build(
        SqlServices.layerPostgres({
          postgres: { url: Redacted.make("postgres://127.0.0.1:1/x") },
          ...unchecked<object>(options)
        })
      )
  ],
  [
    "the database of SqlServices.layerPostgres",
    "maxConnections",
    (options) =>
      build(
        SqlServices.layerPostgres({
          postgres: { url: Redacted.make("postgres://127.0.0.1:1/x"), ...unchecked<object>(options) }
        })
      )
  ],
  [
    "StoreBackup.restore",
    "revokeKeys",
    (options) => StoreBackup.restore({ from: "no.backup", to: "no.store", ...unchecked<object>(options) })
  ],
  ["StoreUpgrade.upgrade", "announce", (options) => StoreUpgrade.upgrade("no.store", unchecked<object>(options))],
  [
    "RosterServer.layer",
    "trustedProxies",
    (options) =>
      build(
        RosterServer.layer(
          unchecked({
            port: 0,
            store: { filename: memory },
            onAdministratorKey: () => Effect.die("a key"),
            ...unchecked<object>(options)
          })
        )
      )
  ],
  ["StudioServer.layer", "target", (options) => build(StudioServer.layer(options))]
]

const message = (error: unknown): string =>
  Predicate.isError(error) && Predicate.isError(error.cause)
    ? error.cause.message
    : Predicate.isError(error)
      ? error.message
      : String(error)

const refusalOf = (call: Call, name: string) =>
  Effect.map(Effect.flip(Effect.provide(call(unchecked({ [name]: undefined })), services, { local: true })), message)

const seed = runSeed("unknown options")
const unknown = Arbitrary.schema(Schema.String.check(Schema.isPattern(/^[a-z]{12,20}$/)))

describe.each(functions)("%s", (_, option, call) => {
  const name = option.split(".").at(-1) ?? ""

  it.effect("refuses a misspelt option, and names the one that is meant", () =>
    Effect.gen(function* () {
      const misspelt = name.slice(0, -1)
      const refusal = yield* refusalOf(call, misspelt)
      assert.include(refusal, `has no field "${misspelt}"; did you mean "${name}"?`)
    })
  )

  it.effect.prop(
    "refuses any other option",
    [unknown],
    ([other]) => Effect.map(refusalOf(call, other), (refusal) => assert.include(refusal, `has no field "${other}"`)),
    { arbitrary: { runs: amount({ ci: 5, long: 200 }), seed } }
  )
})

/** Values that are none of an option, which did something else than their caller wrote, or died within. */
const wrongValues: ReadonlyArray<readonly [option: string, value: unknown, of: ReadonlyArray<string>]> = [
  ["resubscribe", ["Unsubscribd"], ["addAll", "addRows", "importContacts", "planImport", "makeImport"]],
  ["resubscribe", "Unsubscribed", ["addAll", "addRows", "importContacts", "planImport", "makeImport"]],
  ["listNames", "newsletter", ["addAll", "addRows", "importContacts", "planImport"]],
  ["only", "exsting", ["importContacts", "planImport", "surveyContacts"]],
  ["grace", "7 dys", ["rotateApiKey", "rotateSmtp"]],
  ["deliver", "secret.key", ["rotateApiKey", "rotateSmtp"]],
  ["defaultStatus", "Unsubscribd", ["importContacts", "planImport", "surveyContacts"]]
]

describe.each(wrongValues)("the option %s with the value %o", (option, value, of) => {
  it.effect.each(functions.filter(([name]) => of.includes(name)))("is refused by %s, by its name", ([, , call]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(call(unchecked({ [option]: value })), services, { local: true }))
      assert.deepInclude(error, { _tag: "InvalidInput", field: option })
    })
  )
})
