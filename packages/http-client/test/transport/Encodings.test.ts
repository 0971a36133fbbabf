import { assert, describe, it } from "@effect/vitest"
import { InvalidResponse, ResponseTooLarge } from "@roster/domain"
import { Effect, Stream } from "effect"
import { HttpClient, type HttpClientError, type HttpClientResponse } from "effect/http"
import type { IncomingMessage } from "node:http"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { transportFailure } from "../../src/calls/ErrorClassification.ts"
import * as FetchTransport from "../../src/transport/FetchTransport.ts"
import * as UndiciHttpClient from "../../src/transport/undici/UndiciHttpClient.ts"
import { listening } from "./listening.ts"

const maximumResponseBytes = 300_000

const transports = [
  ["undici", UndiciHttpClient.layer({ proxy: false, maximumResponseBytes })],
  ["fetch", FetchTransport.layer({ maximumResponseBytes })]
] as const

/** A server that answers each path with bytes in an encoding, and the headers of what it was asked. */
const serve = Effect.fnUntraced(function* (
  answers: ReadonlyMap<string, readonly [encoding: string, body: Uint8Array]>
) {
  const asked: Array<IncomingMessage["headers"]> = []
  const url = yield* listening((request, response) => {
    asked.push(request.headers)
    const [encoding, body] = answers.get(request.url ?? "") ?? ["identity", Buffer.from("nothing")]
    response.writeHead(200, { "content-encoding": encoding, "content-length": body.length }).end(body)
  })
  return { asked, url }
})

type Response = HttpClientResponse.HttpClientResponse

const text = "é".repeat(100_000)

const ways: ReadonlyArray<
  readonly [name: string, read: (response: Response) => Effect.Effect<string, HttpClientError.HttpClientError>]
> = [
  ["in memory", (response) => response.text],
  ["as a stream", (response) => Stream.mkString(Stream.decodeText(response.stream))]
]

describe.each(transports)("C63: a compressed body over %s", (_, layer) => {
  const withClient = Effect.provide(layer, { local: true })

  it.live.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP", Buffer.concat([gzipSync(text.slice(0, 10)), gzipSync(text.slice(10))])],
    ["deflate", deflateSync(text)],
    ["deflate ", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)]
  ] as const)("is decoded, whoever asked for it: %s", ([encoding, body]) =>
    Effect.gen(function* () {
      const { url } = yield* serve(new Map([["/", [encoding, body]]]))
      for (const [name, read] of ways) assert.strictEqual(yield* Effect.flatMap(HttpClient.get(url), read), text, name)
    }).pipe(withClient)
  )

  it.live.each([["zstd"], ["compress"], ["gzip, br"]] as const)("in the encoding %s is refused by name", ([encoding]) =>
    Effect.gen(function* () {
      const { url } = yield* serve(new Map([["/", [encoding, Buffer.from("{}")]]]))
      for (const [name, read] of ways) {
        const error = yield* Effect.flip(Effect.flatMap(HttpClient.get(url), read))
        const failure = transportFailure("contactsGet", error)
        const detail = `it has the content encoding "${encoding}", which cannot be read`
        assert.strictEqual(failure.evidence, "Permanent")
        assert.deepStrictEqual(failure.error.reason, new InvalidResponse({ status: 200, detail }), name)
      }
    }).pipe(withClient)
  )

  it.live("that is empty may name any encoding", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(
        new Map([
          ["/compress", ["compress", Buffer.alloc(0)]],
          ["/gzip", ["gzip", Buffer.alloc(0)]]
        ])
      )
      for (const path of ["/compress", "/gzip"]) {
        for (const [name, read] of ways) {
          assert.strictEqual(yield* Effect.flatMap(HttpClient.get(url + path), read), "", name)
          assert.strictEqual(yield* Effect.flatMap(HttpClient.head(url + path), read), "", name)
        }
      }
    }).pipe(withClient)
  )

  it.live("that is broken is an answer that cannot be read", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(new Map([["/", ["gzip", Buffer.from("no gzip")]]]))
      for (const [name, read] of ways) {
        const error = yield* Effect.flip(Effect.flatMap(HttpClient.get(url), read))
        assert.strictEqual(transportFailure("contactsGet", error).error.reason._tag, "InvalidResponse", name)
      }
    }).pipe(withClient)
  )

  it.live("is limited after it is decoded, in memory alone", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(
        new Map([
          ["/fits", ["gzip", gzipSync(Buffer.alloc(maximumResponseBytes))]],
          ["/over", ["gzip", gzipSync(Buffer.alloc(maximumResponseBytes + 1))]]
        ])
      )
      const get = (path: string) => HttpClient.get(url + path)
      assert.strictEqual((yield* (yield* get("/fits")).arrayBuffer).byteLength, maximumResponseBytes)
      const { reason } = yield* Effect.flip(Effect.flatMap(get("/over"), ({ arrayBuffer }) => arrayBuffer))
      const cause = "cause" in reason ? reason.cause : undefined
      assert.deepStrictEqual(cause, new ResponseTooLarge({ maximumBytes: maximumResponseBytes }))
      const streamed = yield* Stream.mkUint8Array((yield* get("/over")).stream)
      assert.lengthOf(streamed, maximumResponseBytes + 1)
    }).pipe(withClient)
  )

  it.live("can be asked for, and is asked for only so far as every runtime decodes it", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* serve(new Map())
      yield* HttpClient.get(url)
      yield* HttpClient.get(url, { headers: { "accept-encoding": "br" } })
      assert.deepStrictEqual(
        asked.map((headers) => headers["accept-encoding"]),
        [layer === transports[0][1] ? "identity" : "gzip", "br"]
      )
    }).pipe(withClient)
  )
})
