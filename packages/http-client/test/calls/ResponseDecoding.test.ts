/**
 * Answers of any size, which come in pieces.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { RosterClient } from "../../src/index.ts"
import * as UndiciHttpClient from "../../src/transport/undici/UndiciHttpClient.ts"

const contactsOf = (offset: number, limit: number) =>
  Array.from({ length: limit }, (_, index) => ({
    email: `${offset + index}@example.com`,
    firstName: "Zoë ".repeat(300)
  }))

/** A service that has as many contacts as anybody asks for, of 1.5 kB each. */
const served = Effect.acquireRelease(
  Effect.callback<{ readonly baseUrl: string; readonly close: () => void }>((resume) => {
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://localhost")
      const contacts = contactsOf(Number(searchParams.get("offset")), Number(searchParams.get("limit")))
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(contacts.map(({ email, firstName }) => ({ Email: email, FirstName: firstName }))))
    })
    server.listen(0, "127.0.0.1", () => {
      // A server that listens on a port has an address of that kind.
      const { port } = server.address() as AddressInfo
      const close = () => void server.close().closeAllConnections()
      resume(Effect.succeed({ baseUrl: `http://127.0.0.1:${port}/v4`, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

describe("answers", () => {
  it.live("large and small ones, one after another and at once, are read as they were sent", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* served
      const client = RosterClient.layer({ baseUrl, apiKey: Redacted.make("k") })
      const sizes = [400, 100, 1, 1000, 900, 200, 0, 100]
      const ask = Effect.flatMap(ContactsService, (contacts) => {
        const list = (limit: number, index: number) => contacts.list({ limit, offset: 1000 * index })
        return Effect.all([Effect.forEach(sizes, list), Effect.forEach(sizes, list, { concurrency: "unbounded" })])
      })
      const expected = sizes.map((limit, index) => contactsOf(1000 * index, limit))
      const lists = yield* Effect.provide(ask, Layer.provide(client, UndiciHttpClient.layer()))
      assert.deepStrictEqual(lists, [expected, expected])
    }).pipe(Effect.scoped)
  )
})
