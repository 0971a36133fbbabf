/**
 * Conditional changes at services that do not have them: one that has no such path, one whose path takes no POST, and one
 * that answers 200 to anything. The client reads and writes, and says that its answers are not exact.
 */
import { assert, describe, it } from "@effect/vitest"
import { changesHonoured, idempotencyHonoured, resubscribeHonoured } from "@roster/api"
import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

const words = [changesHonoured, idempotencyHonoured, resubscribeHonoured]

/** Our service as another one would be: without our words, and with another answer to changes. */
const foreign = (answer: () => Response, asked: Array<string> = []) => {
  const transport = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.make((request, url) => {
        asked.push(`${request.method} ${url.pathname}`)
        if (url.pathname.endsWith("/contacts/changes")) {
          return Effect.succeed(HttpClientResponse.fromWeb(request, answer()))
        }
        return Effect.flatMap(client.execute(request), (response) =>
          Effect.map(Effect.orDie(response.arrayBuffer), (body) => {
            const headers = new Headers(response.headers)
            for (const { name } of words) headers.delete(name)
            const content = body.byteLength === 0 ? null : body
            return HttpClientResponse.fromWeb(request, new Response(content, { status: response.status, headers }))
          })
        )
      })
    )
  )
  const embedded = EmbeddedHttpClient.layer({ filename: ":memory:" })
  return RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
    Layer.provide(Layer.provide(transport, embedded))
  )
}

const refusing = (status: number, headers: Record<string, string> = {}) =>
  new Response('{"Error":"no"}', { status, headers: { "content-type": "application/json", ...headers } })

const services: ReadonlyArray<readonly [what: string, answer: () => Response]> = [
  ["has no such path", () => refusing(404)],
  ["takes no POST there", () => refusing(405, { allow: "GET" })],
  ["answers 200 to anything", () => new Response("[]", { headers: { "content-type": "application/json" } })]
]

const ofChanges = conformance.contacts().filter(({ area }) => area === "contacts: change")

for (const [what, answer] of services) testConformance(`a service that ${what}`, ofChanges, foreign(answer))

describe("changes at another service", () => {
  it.effect.each(services)("are not exact, and are asked for by the operation once: it %s", ([, answer]) => {
    const asked: Array<string> = []
    return Effect.gen(function* () {
      const contacts = yield* ContactsService
      const changes = [{ email: "a@example.com", seen: null, write: { firstName: "A" } }] as const
      assert.deepStrictEqual(yield* contacts.change(changes), [{ _tag: "Done", exact: false }])
      assert.deepStrictEqual(yield* contacts.change(changes, { dryRun: true }), [{ _tag: "AlreadySo", exact: false }])
      assert.deepStrictEqual(yield* contacts.change(changes), [{ _tag: "AlreadySo", exact: false }])
      // The first add that succeeds says that the service does not have it.
      assert.deepStrictEqual(
        asked.filter((line) => line.endsWith("/changes")),
        ["POST /v4/contacts/changes"]
      )
    }).pipe(Effect.provide(foreign(answer, asked)))
  })
})
