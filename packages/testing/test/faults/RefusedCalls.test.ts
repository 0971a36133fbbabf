/** A fault plan in front of any layer leaves alone what a client would never send; `serve --faults` never sees it. */
import { assert, describe, it } from "@effect/vitest"
import {
  AccountService,
  ContactFilter,
  ContactsService,
  CredentialsService,
  EmailsService,
  FaultPlan,
  ImportSource,
  ListsService,
  type RuleText,
  RunsService
} from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { unchecked } from "../../src/conformance/cases/Unchecked.ts"
import { everyOperation, type OperationFailure, ownOperations, type Services } from "./EveryOperation.ts"
import { layerMemory } from "../../src/layers/ServiceLayers.ts"

type Call = Effect.Effect<unknown, OperationFailure, Services>

const contacts = <A, E>(use: (service: ContactsService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(ContactsService, use)
const apiKeys = <A, E>(use: (service: CredentialsService["Service"]["apiKeys"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(CredentialsService, (service) => use(service.apiKeys))
const smtp = <A, E>(use: (service: CredentialsService["Service"]["smtp"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(CredentialsService, (service) => use(service.smtp))

const account = <A, E>(use: (service: AccountService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(AccountService, use)
const runs = <A, E>(use: (service: RunsService["Service"]) => Effect.Effect<A, E>) => Effect.flatMap(RunsService, use)

const lists = <A, E>(use: (service: ListsService["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(ListsService, use)

const lone = "\ud800"
const email = "ann@example.com"
const row = { email: unchecked<never>(email) }
const key = { name: unchecked<never>("reporting"), accessLevels: ["ViewContacts"] } as const
const badRule = ContactFilter.ByRule({ rule: unchecked<RuleText>("city =") })
const noEmails = ContactFilter.ByEmails({ emails: unchecked<[string]>([]) })
const scope = { subaccount: unchecked<never>("nobody") }

/** Calls of each operation that are refused before anything is sent. */
const refused: { readonly [Name in FaultPlan.Operation]?: ReadonlyArray<Call> } = {
  "contacts.get": [contacts((it) => it.get("")), contacts((it) => it.get(lone))],
  "contacts.list": [
    contacts((it) => it.list({ limit: 1001 })),
    contacts((it) => it.list({ rule: unchecked<RuleText>("city =") })),
    contacts((it) => Stream.runDrain(it.stream({ offset: -1 })))
  ],
  "contacts.getMany": [
    contacts((it) => it.getMany([lone])),
    contacts((it) => it.getMany(Array.from({ length: 1001 }, () => email)))
  ],
  "contacts.count": [contacts((it) => it.count({ rule: unchecked<RuleText>("city =") }))],
  "contacts.fields": [contacts((it) => it.fields({ rule: unchecked<RuleText>("city =") }))],
  "contacts.add": [
    contacts((it) => it.add([row, { email: unchecked<never>("alan at example.com") }])),
    contacts((it) => it.add(Array.from({ length: 1001 }, () => row))),
    contacts((it) => it.add([row], { listNames: [lone] })),
    contacts((it) => it.add([row], { idempotencyKey: "a b" })),
    contacts((it) => it.addWithoutAnswer([unchecked<never>({ ...row, status: "active" })])),
    contacts((it) => it.addWithoutAnswer(new Set(Array.from({ length: 1001 }, () => ({ ...row })))))
  ],
  "contacts.update": [
    contacts((it) => it.update(".", { firstName: "Ann" })),
    contacts((it) => it.update(email, { firstName: unchecked<string>(7) }))
  ],
  "contacts.change": [
    contacts((it) =>
      it.change([
        { email, seen: null, write: {} },
        { email: "alan at example.com", seen: null, write: {} }
      ])
    ),
    contacts((it) => it.change(Array.from({ length: 1001 }, () => ({ email, seen: null, delete: true as const })))),
    contacts((it) => it.change([unchecked<never>({ email, seen: null })]))
  ],
  "contacts.history": [contacts((it) => it.history("")), contacts((it) => it.history(email, { limit: -1 }))],
  "contacts.delete": [contacts((it) => it.delete(".."))],
  "contacts.deleteMany": [contacts((it) => it.deleteMany(badRule)), contacts((it) => it.deleteMany(noEmails))],
  "contacts.import": [
    contacts((it) => it.import(ImportSource.File({ name: "a.csv", content: Stream.empty }), { listName: lone }))
  ],
  "contacts.export": [
    contacts((it) => it.export({ filter: badRule })),
    contacts((it) => it.export({ filter: noEmails })),
    contacts((it) => it.export({ fileFormat: unchecked<"Csv">("Pdf") })),
    contacts((it) => it.export({}, { idempotencyKey: "" }))
  ],
  "contacts.download": [contacts((it) => Stream.runDrain(it.download("/export.csv")))],
  "apiKeys.list": [apiKeys((it) => it.list(scope))],
  "apiKeys.get": [apiKeys((it) => it.get("")), apiKeys((it) => it.get("reporting", scope))],
  "apiKeys.create": [
    apiKeys((it) => it.create({ ...key, name: unchecked<never>("") })),
    apiKeys((it) =>
      it.create({ name: unchecked<never>("reporting"), for: unchecked<["contacts:read"]>(["everything"]) })
    ),
    apiKeys((it) => it.create(unchecked<typeof key>(null)))
  ],
  "contacts.exportStatus": [contacts((it) => it.exportStatus("nobody"))],
  "apiKeys.update": [
    apiKeys((it) => it.update("", key)),
    apiKeys((it) => it.update("reporting", { ...key, accessLevels: unchecked<[]>(["Hibernate"]) }))
  ],
  "apiKeys.delete": [apiKeys((it) => it.delete(""))],
  "smtp.list": [smtp((it) => it.list(scope))],
  "smtp.get": [smtp((it) => it.get(""))],
  "smtp.create": [smtp((it) => it.create({ name: unchecked<never>("john") }))],
  "smtp.update": [smtp((it) => it.update(email, { name: unchecked<never>("john") }))],
  "smtp.delete": [smtp((it) => it.delete("", scope))],
  "emails.send": [
    Effect.flatMap(EmailsService, (it) => it.send({ recipients: [], content: { from: "john@example.com" } }))
  ],
  "runs.begin": [
    runs((it) => it.begin({ command: "" })),
    runs((it) => it.begin({ command: "import", undoes: "a/b" })),
    runs((it) => it.begin({ command: "import" }, { idempotencyKey: "a b" }))
  ],
  "runs.end": [runs((it) => it.end(".."))],
  "runs.step": [runs((it) => it.step("none", lone)), runs((it) => it.step("", "half"))],
  "runs.list": [runs((it) => it.list({ limit: 1001 })), runs((it) => it.list({ before: "a/b" }))],
  "runs.get": [runs((it) => it.get("."))],
  "runs.changes": [runs((it) => it.changes("none", { after: -1 })), runs((it) => it.changes("a b"))],
  "account.key": [],
  "account.overview": [],
  "account.auditTrail": [account((it) => it.auditTrail({ before: -1 })), account((it) => it.auditTrail({ key: lone }))],
  "account.keyUses": [account((it) => it.keyUses({ subaccount: "nobody" }))],
  "account.jobs": [account((it) => it.jobs({ limit: 1001 })), account((it) => it.jobs({ before: "a/b" }))],
  "account.job": [account((it) => it.job(".."))],
  "account.cancelJob": [account((it) => it.cancelJob("a/b"))],
  "account.rejectedRows": [
    account((it) => it.rejectedRows("none", { after: -1 })),
    account((it) => it.rejectedRows(""))
  ],
  "account.keptStatuses": [account((it) => it.keptStatuses("a b"))],
  "account.emails": [account((it) => it.emails({ limit: -1 })), account((it) => it.emails({ before: "a/b" }))],
  "account.email": [account((it) => it.email("."))],
  "account.rules": [],
  "account.saveRule": [account((it) => it.saveRule("a b", "All")), account((it) => it.saveRule("vip", "status ="))],
  "account.removeRule": [account((it) => it.removeRule(""))],
  "runs.erase": [runs((it) => it.erase("none", [1.5])), runs((it) => it.erase("", [1]))],
  "lists.list": [lists((it) => it.list({ limit: 1001 })), lists((it) => it.list({ offset: -1 }))],
  "lists.get": [lists((it) => it.get("")), lists((it) => it.get(lone))],
  "lists.create": [
    lists((it) => it.create({ listName: unchecked<string>(7) })),
    lists((it) => it.create({ listName: "news" }, { idempotencyKey: "a b" }))
  ],
  "lists.update": [
    lists((it) => it.update(".", { allowUnsubscribe: true })),
    lists((it) => it.update("news", { newListName: unchecked<string>(7) }))
  ],
  "lists.delete": [lists((it) => it.delete(".."))],
  "lists.contacts": [lists((it) => it.contacts("", {})), lists((it) => it.contacts("news", { limit: -1 }))],
  "lists.add": [lists((it) => it.add("news", badRule)), lists((it) => it.add("", noEmails))],
  "lists.remove": [lists((it) => it.remove("news", noEmails)), lists((it) => it.remove(lone, badRule))]
}

const operations = Object.entries(refused).flatMap(([name, calls]) =>
  Object.keys(FaultPlan.operations).flatMap((operation) =>
    // The names of the entries are operations.
    operation === name ? [{ name: operation as FaultPlan.Operation, calls }] : []
  )
)

/** The first call that counts fails, before or after it is done. */
const planOf = (fault: FaultPlan.Fault) =>
  FaultPlan.make(Object.fromEntries(operations.map(({ name }) => [name, { 1: fault }])))

const overHttp = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
  Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:" }))
)

const withoutTransport = (sent: Array<string>) =>
  RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
    Layer.provide(
      Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.sync(() => {
            sent.push(request.url)
            return HttpClientResponse.fromWeb(request, new Response(null, { status: 200 }))
          })
        )
      )
    )
  )

const valid = (name: FaultPlan.Operation) =>
  [...everyOperation, ...ownOperations].find(({ id }) => id === FaultPlan.operations[name])?.call ??
  contacts((it) => Effect.flatMap(it.export(), ({ link }) => Stream.runDrain(it.download(link))))

describe("a call that a client refuses before it sends it", () => {
  it("is in the table for each operation of the interface", () => {
    assert.deepStrictEqual(
      Object.keys(FaultPlan.operations).filter((name) => !Object.hasOwn(refused, name)),
      []
    )
  })

  it.effect("reaches no transport, so a plan of roster serve never counts it", () => {
    const sent: Array<string> = []
    return Effect.gen(function* () {
      for (const { calls, name } of operations) {
        for (const [index, call] of calls.entries()) {
          const { _tag } = yield* Effect.flip(call)
          assert.include(
            ["EmailNotFound", "InvalidInput", "InvalidRule", "JobNotFound", "RunNotFound", "TooManyContacts"],
            _tag,
            `${name} ${index}`
          )
        }
      }
      assert.deepStrictEqual(sent, [])
    }).pipe(Effect.provide(withoutTransport(sent)))
  })

  for (const [layerName, services] of [
    ["the store in memory", layerMemory],
    ["the HTTP client", overHttp]
  ] as const) {
    for (const fault of [FaultPlan.unauthorized, FaultPlan.cutAfter]) {
      it.effect(`uses up no ${fault.fault} in front of ${layerName}`, () =>
        Effect.gen(function* () {
          for (const { calls, name } of operations) {
            for (const [index, call] of calls.entries()) {
              assert.notStrictEqual((yield* Effect.flip(call))._tag, "ServiceError", `${name} ${index}`)
            }
            // The next one that is sent has the fault.
            const error = yield* Effect.flip(valid(name))
            assert.strictEqual(error._tag, "ServiceError", name)
          }
        }).pipe(Effect.provide(services.pipe(FaultPlan.layer(planOf(fault)))))
      )
    }
  }

  it.effect("leaves a list that can be read once to the service", () =>
    Effect.gen(function* () {
      const service = yield* ContactsService
      yield* service.addWithoutAnswer([row, { email: unchecked<never>("ben@example.com") }].values())
      assert.strictEqual((yield* service.list()).length, 2)
    }).pipe(Effect.provide(layerMemory.pipe(FaultPlan.layer(planOf(FaultPlan.delay(0))))))
  )
})
