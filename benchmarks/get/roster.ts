/** `ContactsService.get` as an application has it: every policy on, on the transport of Roster. */
import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { steady } from "../src/Trial.ts"
import { apiKey, atOnce, baseUrl, check, emails } from "./Calls.ts"

const runtime = ManagedRuntime.make(
  RosterClient.layer({ baseUrl, apiKey: Redacted.make(apiKey) }).pipe(Layer.provide(UndiciHttpClient.layer()))
)
const calls = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const left = emails.values()
  const worker = Effect.gen(function* () {
    for (const email of left) check((yield* contacts.get(email)).email)
  })
  yield* Effect.all(
    Array.from({ length: atOnce }, () => worker),
    { concurrency: "unbounded", discard: true }
  )
  return emails.length
})

await steady(() => runtime.runPromise(calls))
await runtime.dispose()
