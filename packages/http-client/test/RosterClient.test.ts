import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import * as HttpContactsService from "../src/HttpContactsService.ts"
import * as RosterClient from "../src/RosterClient.ts"

class First extends Context.Service<First, ContactsService["Service"]>()("First") {}
class Second extends Context.Service<Second, ContactsService["Service"]>()("Second") {}

describe("a client", () => {
  it.effect.each([
    ["RosterClient", RosterClient.layer],
    ["HttpContactsService", HttpContactsService.layer]
  ] as const)("of each of two accounts in one application has its own address and key: %s", ([, layer]) =>
    Effect.gen(function* () {
      const sent: Array<readonly [url: string, key: string | undefined]> = []
      const transport = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request, url) => {
          sent.push([url.origin, request.headers["x-service-apikey"]])
          return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json([])))
        })
      )
      const of = (name: string) =>
        layer({ baseUrl: `https://${name}.example/v4`, apiKey: Redacted.make(`key-of-${name}`) })
      const both = Layer.mergeAll(
        Layer.provide(Layer.effect(First, ContactsService), of("first")),
        Layer.provide(Layer.effect(Second, ContactsService), of("second"))
      )
      yield* Effect.gen(function* () {
        yield* (yield* First).list()
        yield* (yield* Second).list()
      }).pipe(Effect.provide(Layer.provide(both, transport)))
      assert.deepStrictEqual(sent, [
        ["https://first.example", "key-of-first"],
        ["https://second.example", "key-of-second"]
      ])
    })
  )
})
