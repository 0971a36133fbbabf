/**
 * Answers of any size, which come in pieces.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { Effect, Layer, Redacted, Result } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { RosterClient } from "../../src/index.ts"
import * as FetchTransport from "../../src/transport/FetchTransport.ts"
import * as UndiciHttpClient from "../../src/transport/undici/UndiciHttpClient.ts"

const contactsOf = (offset: number, limit: number) =>
  Array.from({ length: limit }, (_, index) => ({
    email: `${offset + index}@example.com`,
    firstName: "Zoë ".repeat(300)
  }))

const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly baseUrl: string; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        // A server that listens on a port has an address of that kind.
        const { port } = server.address() as AddressInfo
        const close = () => void server.close().closeAllConnections()
        resume(Effect.succeed({ baseUrl: `http://127.0.0.1:${port}/v4`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** A service that has as many contacts as anybody asks for, of 1.5 kB each. */
const served = serve((request, response) => {
  const { searchParams } = new URL(request.url ?? "", "http://localhost")
  const contacts = contactsOf(Number(searchParams.get("offset")), Number(searchParams.get("limit")))
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(contacts.map(({ email, firstName }) => ({ Email: email, FirstName: firstName }))))
})

/** A service that answers each request with these pieces, one after another, whose length it says before. */
const servedInPieces = (pieces: ReadonlyArray<string>) =>
  serve((_, response) => {
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(pieces.join(""))
    })
    const left = [...pieces]
    const write = () => {
      const piece = left.shift()
      if (piece === undefined) response.end()
      else response.write(piece, () => setImmediate(write))
    }
    write()
  })

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

  const large = JSON.stringify(contactsOf(0, 500).map(({ email }) => ({ Email: email, FirstName: "a".repeat(400) })))
  it.live.each([
    ["a list", ["[]"], undefined],
    ["a large list", [large.slice(0, 90_000), large.slice(90_000)], undefined],
    ["a list between white space", [" \r\n", "\t[", "1", "]", "\n", "  "], undefined],
    ["a list behind a byte order mark", ["\uFEFF", "[]"], undefined],
    ["an object", ["{", "}"], "it is not a list"],
    ["a list that does not end", ["[1", ", 2"], "it is not a list"],
    ["white space", [" ", "\n"], "it is empty"]
  ] as const)("to an add whose contacts nobody wants may be no more than a list: %s", ([, pieces, problem]) =>
    Effect.gen(function* () {
      const { baseUrl } = yield* servedInPieces(pieces)
      const client = RosterClient.layer({ baseUrl, apiKey: Redacted.make("k") })
      const add = Effect.flatMap(ContactsService, (contacts) =>
        contacts.addWithoutAnswer([{ email: EmailAddress.make("ann@example.com") }])
      )
      for (const transport of [UndiciHttpClient.layer(), FetchTransport.layer()]) {
        const added = yield* Effect.result(Effect.provide(add, Layer.provide(client, transport)))
        if (problem === undefined) assert.isTrue(Result.isSuccess(added))
        else assert.include(Result.isFailure(added) ? added.failure.message : "", problem)
      }
    }).pipe(Effect.scoped)
  )
})
