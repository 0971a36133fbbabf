/**
 * Nobody who unsubscribed is Active again because of an import, whichever way it takes. With `ROSTER_LONG_RUN` 10,000
 * contacts take each of them.
 */
import { assert, describe, layer } from "@effect/vitest"
import {
  type ContactPayload,
  ContactsService,
  EmailAddress,
  type ImportOptions,
  ImportSource,
  maximumContactsPerAdd,
  readContacts
} from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { addAll, addRows, importContacts, RunLog } from "@roster/workflows"
import { Array as Arr, Effect, Layer, Stream } from "effect"
import { HttpClient } from "effect/http"
import { amount } from "../../src/simulation/LongRun.ts"
import { layerEmbedded, layerFile, layerMemory, layerServed } from "../../src/index.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { unannounced } from "../conformance/ForeignService.ts"

// Enough for requests that the served layer answers on another thread.
const count = amount({ ci: 500, long: 10_000 })

/** A service that knows nothing of the guard: neither does it say so, nor does it get the header. */
const unaware = unannounced(["roster-resubscribe"])

const layerUnaware = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
  Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, unaware))),
  Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:" }))
)

const emails = Array.from({ length: count }, (_, index) => EmailAddress.make(`p${index}@consent.example`))
const asked: ReadonlyArray<ContactPayload> = emails.map((email) => ({ email, status: "Active", firstName: "After" }))
const file = (more = "") =>
  new TextEncoder().encode(
    `Email,FirstName,Status\n${emails.map((email) => `${email},After,Active\n`).join("")}${more}`
  )
const rows = () => readContacts(Stream.make(file()))

/** Makes everybody unsubscribed, whatever they were. */
const unsubscribeAll = Effect.flatMap(ContactsService, (contacts) =>
  Effect.forEach(Arr.chunksOf(emails, maximumContactsPerAdd), (some) =>
    contacts.addWithoutAnswer(some.map((email) => ({ email, status: "Unsubscribed", firstName: "Before" })))
  )
)

const everybody = Effect.flatMap(ContactsService, (contacts) =>
  Effect.map(Stream.runCollect(contacts.stream()), (all) => all.filter(({ email }) => email.startsWith("p")))
)

/** Imports a file with one row more, and waits for it. */
const serverSide = (marker: string, options?: ImportOptions) =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const content = Stream.make(file(`${marker}@consent.example,,\n`))
    yield* contacts.import(ImportSource.File({ name: "contacts.csv", content }), options)
    yield* eventually(contacts.stream().pipe(Stream.runCollect), (all) =>
      all.some(({ email }) => email === `${marker}@consent.example`)
    )
  })

/** The ways of an import, each with the number of contacts that it says kept their status. */
const batchPaths = [
  [
    "importContacts",
    Effect.map(
      Effect.provide(importContacts(rows(), { record: false }), RunLog.layerMemory()),
      ({ statusesKept }) => statusesKept
    )
  ],
  ["addRows", Effect.map(addRows(rows()), ({ statusesKept }) => statusesKept)],
  [
    "addAll",
    Effect.map(
      Stream.runCollect(addAll(Stream.fromIterable(asked))),
      (outcomes) => outcomes.filter((outcome) => outcome._tag === "Accepted" && outcome.keptStatus !== undefined).length
    )
  ],
  [
    "importContacts as a run",
    Effect.map(
      Effect.provide(importContacts(Stream.fromIterable(asked)), RunLog.layerMemory()),
      ({ statusesKept }) => statusesKept
    )
  ]
] as const

const layers = [
  ["SQL in memory", layerMemory, true],
  ["SQL on a file", layerFile, true],
  ["HTTP in one process", layerEmbedded, true],
  ["HTTP over a socket", layerServed, true],
  ["HTTP to a service that knows nothing of the guard", layerUnaware, false]
] as const

describe("somebody who unsubscribed stays so", () => {
  for (const [name, services, isAware] of layers) {
    layer(services, { excludeTestServices: true, timeout: "600 seconds" })(name, (it) => {
      for (const [path, run] of batchPaths) {
        it.effect(
          path,
          () =>
            Effect.gen(function* () {
              yield* unsubscribeAll
              assert.strictEqual(yield* run, count)
              const found = yield* everybody
              assert.strictEqual(found.length, count)
              assert.deepStrictEqual([...new Set(found.map(({ status }) => status))], ["Unsubscribed"])
              // All else is updated.
              assert.deepStrictEqual([...new Set(found.map(({ firstName }) => firstName))], ["After"])
            }),
          600_000
        )
      }
      it.effect(
        "import",
        () =>
          Effect.gen(function* () {
            const contacts = yield* ContactsService
            yield* unsubscribeAll
            if (!isAware) {
              const source = ImportSource.File({ name: "contacts.csv", content: Stream.make(file()) })
              const refused = yield* Effect.flip(contacts.import(source, { resubscribe: false }))
              assert.include(refused.message, "does not say that it keeps the status")
              assert.deepStrictEqual(new Set((yield* everybody).map(({ firstName }) => firstName)), new Set(["Before"]))
              // A list that names the whole ladder is left to the service.
              yield* serverSide("named", { resubscribe: ["NotConfirmed", "Bounced", "Unsubscribed", "Abuse"] })
              assert.deepStrictEqual(new Set((yield* everybody).map(({ firstName }) => firstName)), new Set(["After"]))
              return
            }
            yield* serverSide("first")
            yield* serverSide("second", { resubscribe: false })
            const found = yield* everybody
            assert.strictEqual(found.length, count)
            assert.deepStrictEqual([...new Set(found.map(({ status }) => status))], ["Unsubscribed"])
            assert.deepStrictEqual([...new Set(found.map(({ firstName }) => firstName))], ["After"])
          }),
        600_000
      )
    })
  }
})
