import { assert, it } from "@effect/vitest"
import { ContactsService, CredentialsService, EmailAddress } from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { RosterClient } from "@roster/http-client"
import { Context, Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { refused } from "../../src/conformance/cases/Refused.ts"

/** The client over a transport that notes every request and answers each with an empty list. */
const client = Effect.gen(function* () {
  const sent: Array<string> = []
  const transport = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      sent.push(`${request.method} ${request.url}`)
      return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json([])))
    })
  )
  const services = yield* Layer.build(
    RosterClient.layer({ baseUrl: "http://localhost:9/v4" }).pipe(Layer.provide(transport))
  )
  return {
    sent,
    contacts: Context.get(services, ContactsService),
    credentials: Context.get(services, CredentialsService)
  }
})

it.effect("the client refuses input that no service accepts before it sends anything", () =>
  Effect.gen(function* () {
    const { contacts, credentials, sent } = yield* client
    const many = Array.from({ length: 1001 }, (_, i) => ({ email: EmailAddress.make(`m${i}@example.com`) }))
    yield* refused(contacts.add(many), "TooManyContacts")
    yield* refused(contactFilterFromInput({ rule: "All", emails: ["a@example.com"] }), "ConflictingFilter")
    yield* refused(contacts.list({ limit: 1001 }), "InvalidInput")
    for (const impossible of ["", ".", "..", "\ud800"]) {
      yield* refused(contacts.get(impossible), "InvalidInput")
      yield* refused(contacts.update(impossible, {}), "InvalidInput")
      yield* refused(contacts.delete(impossible), "InvalidInput")
      yield* refused(credentials.apiKeys.get(impossible), "InvalidInput")
      yield* refused(credentials.smtp.delete(impossible), "InvalidInput")
    }
    assert.deepStrictEqual(sent, [])
    // The transport does note what is sent.
    yield* contacts.add(many.slice(1))
    assert.deepStrictEqual(sent, ["POST http://localhost:9/v4/contacts"])
  })
)
