import { assert, describe, it } from "@effect/vitest"
import { ContactsService, ResponseTooLarge } from "@roster/domain"
import { Effect, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClient, type HttpClientError, HttpClientResponse } from "effect/http"
import * as RosterClient from "../../src/RosterClient.ts"
import * as FetchTransport from "../../src/transport/FetchTransport.ts"
import { limitResponse } from "../../src/transport/FetchTransport.ts"
import { listening } from "./listening.ts"

describe("RequestInit", () => {
  it.effect.each(["the layer", "a call"])(
    "of fetch counts where %s is given it, and redirects are never followed",
    (where) =>
      Effect.gen(function* () {
        const sent: Array<RequestInit | undefined> = []
        const fetch: typeof globalThis.fetch = (_, init) => {
          sent.push(init)
          return Promise.resolve(Response.json([]))
        }
        const given = Layer.succeed(FetchHttpClient.RequestInit, {
          cache: "no-store",
          redirect: "follow",
          integrity: "x"
        })
        const inCall = where === "a call"
        const transport = FetchTransport.layer().pipe(Layer.provide(inCall ? Layer.empty : given))
        const client = RosterClient.layer({ baseUrl: "https://roster.example/v4", apiKey: Redacted.make("k") })
        yield* ContactsService.use((contacts) => contacts.list()).pipe(
          Effect.provide(Layer.merge(Layer.provide(client, transport), inCall ? given : Layer.empty)),
          Effect.provideService(FetchHttpClient.Fetch, fetch)
        )
        assert.deepStrictEqual(
          sent.map((init) => [init?.cache, init?.integrity, init?.redirect, init?.method]),
          [["no-store", "x", "manual", "GET"]]
        )
      })
  )
})

/** A client that answers with what the platform's `Response` says, as the one over fetch does. */
const answering = (response: () => Response) =>
  HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, response())))

const get = (response: () => Response, maximumBytes?: number) =>
  limitResponse(answering(response), maximumBytes).get("http://127.0.0.1/")

describe("limitResponse", () => {
  it.effect("reads what fits, in every form and more than once", () =>
    Effect.gen(function* () {
      const response = yield* get(() => new Response('{"a":"é"}', { status: 201, headers: { "x-a": "1" } }), 10)
      assert.deepStrictEqual([response.status, response.headers["x-a"]], [201, "1"])
      assert.strictEqual((yield* response.arrayBuffer).byteLength, 10)
      assert.strictEqual(yield* response.text, '{"a":"é"}')
      assert.deepStrictEqual(yield* response.json, { a: "é" })
      const form = new FormData()
      form.append("name", "é")
      const posted = yield* get(() => new Response(form))
      assert.strictEqual((yield* posted.formData).get("name"), "é")
      const parameters = yield* get(() => new Response("?a=1&b=%26"))
      assert.deepStrictEqual((yield* parameters.urlParamsBody).params, [
        ["?a", "1"],
        ["b", "&"]
      ])
    })
  )

  it.effect("takes no body at all for an empty one", () =>
    Effect.gen(function* () {
      const response = yield* get(() => new Response(null, { status: 204 }), 0)
      assert.strictEqual(yield* response.text, "")
      assert.isNull(yield* response.json)
    })
  )

  it.effect("refuses one byte more, with the status, and text that is not UTF-8", () =>
    Effect.gen(function* () {
      const response = yield* get(() => new Response("x".repeat(11), { status: 500 }), 10)
      const { arrayBuffer, formData, json, text, urlParamsBody } = response
      const reads: ReadonlyArray<Effect.Effect<unknown, HttpClientError.HttpClientError>> = [
        arrayBuffer,
        formData,
        json,
        text,
        urlParamsBody
      ]
      for (const read of reads) {
        const { reason } = yield* Effect.flip(read)
        assert.strictEqual(reason._tag, "DecodeError")
        if (reason._tag !== "DecodeError") continue
        assert.strictEqual(reason.response.status, 500)
        assert.deepStrictEqual(reason.cause, new ResponseTooLarge({ maximumBytes: 10 }))
      }
      const latin = yield* get(() => new Response(new Uint8Array([0xe9])))
      assert.strictEqual((yield* Effect.flip(latin.text)).reason._tag, "DecodeError")
    })
  )

  it.effect("does not bound a stream", () =>
    Effect.gen(function* () {
      const response = yield* get(() => new Response("x".repeat(100)), 10)
      assert.lengthOf(yield* Stream.mkUint8Array(response.stream), 100)
    })
  )

  it.live("C61: over fetch, cuts an endless body off at 32 MiB and closes its connection; memory stays flat", () =>
    Effect.gen(function* () {
      const closed = Promise.withResolvers<number>()
      const url = yield* listening((_, response) => {
        const chunk = Buffer.alloc(64 * 1024, "x")
        let sent = 0
        const pour = () => {
          while (response.write(chunk)) sent += chunk.length
        }
        response.on("drain", pour).on("close", () => closed.resolve(sent))
        pour()
      })
      const client = limitResponse(yield* HttpClient.HttpClient)
      const before = process.memoryUsage.rss()
      const error = yield* Effect.flip(Effect.flatMap(client.get(`${url}/`), ({ text }) => text))
      assert.instanceOf("cause" in error.reason ? error.reason.cause : undefined, ResponseTooLarge)
      assert.isBelow(yield* Effect.promise(() => closed.promise), 64 * 1024 * 1024)
      assert.isBelow(process.memoryUsage.rss() - before, 96 * 1024 * 1024)
    }).pipe(Effect.provide(FetchHttpClient.layer))
  )
})
