/**
 * C.4 Downloads through proxies: files that come compressed, parts that nobody asked for, and what is taken for whole.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Deferred, Effect, Exit, Stream } from "effect"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import type { LedgerRequest } from "./server/FaultLedger.ts"
import {
  type Answer,
  answerBytes,
  finish,
  readBody,
  reset,
  respond,
  type Script,
  stall,
  waitFor,
  write
} from "./server/FaultScript.ts"
import type { FaultPlan } from "./server/FaultServer.ts"
import { transports, trial } from "./FaultTrial.ts"
import { reason, succeeded } from "./Verdict.ts"

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))

/** Rows that compress badly, so that half of what is compressed is many rows. */
const rows = (seed: number): Uint8Array<ArrayBuffer> => {
  let state = seed
  const next = () => (state = (state * 48_271) % 2_147_483_647).toString(36)
  return bytes(
    ["Email,FirstName", ...Array.from({ length: 5000 }, () => `${next()}@example.com,${next()}`), ""].join("\r\n")
  )
}
const file = rows(1)
const other = rows(2)

const encodings = [
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync]
] as const

type Headers = NonNullable<Answer["headers"]>

const csv = (headers: Headers = {}): Headers => ({ "Content-Type": "text/csv", Connection: "close", ...headers })

const zipped = (content: Uint8Array, headers: Headers = {}): Answer => ({
  status: 200,
  headers: csv({ "Content-Encoding": "gzip", ...headers }),
  body: gzipSync(content)
})

const plain = (content: Uint8Array, headers: Headers = {}): Answer => ({
  status: 200,
  headers: csv(headers),
  body: content
})

/** An answer of which so much of the body comes as it says, and then something else. */
const cut = (answer: Answer, end: Script, share = 0.5): Script => {
  const whole = answerBytes(answer)
  const length = answer.body?.length ?? 0
  return [readBody(), write(whole.subarray(0, whole.length - Math.ceil(length * (1 - share)))), ...end]
}

/** Half of a body, framed as if it were the whole of it. */
const half = (answer: Answer): Answer => ({ ...answer, body: answer.body?.slice(0, answer.body.length / 2) })

const rest = (content: Uint8Array, { headers }: LedgerRequest, more: Headers = {}): Answer => {
  const from = Number(/^bytes=(\d+)-$/.exec(headers["range"] ?? "")?.[1])
  const range = { ETag: '"1"', "Content-Range": `bytes ${from}-${content.length - 1}/${content.length}` }
  return { status: 206, headers: csv({ ...range, ...more }), body: content.subarray(from) }
}

describe.each(transports)("C.4 Downloads over %s", (name, transport) => {
  /** Which of the files arrived, or why none did. A plan may break off as soon as some bytes have arrived. */
  const downloading = (plan: (begun: Script) => FaultPlan["requests"]) => {
    const begun = Deferred.makeUnsafe<void>()
    return trial({
      plan: { requests: plan([waitFor(Deferred.await(begun)), reset]) },
      transport,
      call: ({ origin }) =>
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          const came = Buffer.from(
            yield* contacts.download(`${origin}/files/export.csv`).pipe(
              Stream.tap((part) => (part.length > 0 ? Deferred.succeed(begun, undefined) : Effect.void)),
              Stream.mkUint8Array
            )
          )
          return came.equals(file) ? "file" : came.equals(other) ? "other" : `${came.length} bytes that are no file`
        })
    })
  }

  const arrived = (ended: Effect.Success<ReturnType<typeof downloading>>) => {
    succeeded(ended)
    if (Exit.isSuccess(ended.exit)) assert.strictEqual(ended.exit.value, "file")
  }

  it.live.each(encodings)("a file that a proxy compressed by %s arrives, whatever its length on the wire", (encoding) =>
    Effect.gen(function* () {
      const [name, compress] = encoding
      const ended = yield* downloading(() => [
        [respond({ status: 200, headers: csv({ "Content-Encoding": name }), body: compress(file) })]
      ])
      arrived(ended)
      assert.strictEqual(ended.requests[0]?.headers["accept-encoding"], "identity")
    })
  )

  it.live.each([
    ["gzip", "chunked"],
    ["gzip", "with a length"],
    ["br", "with a length"]
  ] as const)("a file compressed by %s, %s, that breaks off is never taken for whole", ([name, framing]) =>
    Effect.gen(function* () {
      const body = name === "gzip" ? gzipSync(file) : brotliCompressSync(file)
      const head = csv({
        "Content-Encoding": name,
        ...(framing === "chunked" ? { "Transfer-Encoding": "chunked" } : {})
      })
      const framed = Buffer.concat([bytes(`${body.length.toString(16)}\r\n`), body, bytes("\r\n0\r\n\r\n")])
      const answer: Answer = { status: 200, headers: head, body: framing === "chunked" ? framed : body }
      for (const end of [reset, finish]) {
        const ended = yield* downloading(() => [cut(answer, [end])])
        reason(ended, "Unavailable")
      }
    })
  )

  it.live("a compressed file whose end nothing tells is refused, or found to be cut by decoding it", () =>
    Effect.gen(function* () {
      const head = answerBytes({ status: 200, headers: { ...zipped(file).headers, "Transfer-Encoding": "none" } })
      const withoutLength = Buffer.from(
        Buffer.from(head)
          .toString("latin1")
          .replace(/Transfer-Encoding.*\r\n/, "")
      )
      const body = gzipSync(file)
      const ended = yield* downloading(() => [
        [readBody(), write(withoutLength), write(body.subarray(0, body.length / 2)), finish]
      ])
      reason(ended, name === "fetch" ? "InvalidResponse" : "Unavailable")
      const nothing = yield* downloading(() => [[readBody(), write(withoutLength), finish]])
      reason(nothing, name === "fetch" ? "InvalidResponse" : "Unavailable")
    })
  )

  if (name === "undici") {
    it.live("a compressed file that was cut before it was framed is found to be cut by decoding it", () =>
      Effect.gen(function* () {
        for (const compress of [gzipSync, brotliCompressSync, deflateSync]) {
          const coding = compress === gzipSync ? "gzip" : compress === deflateSync ? "deflate" : "br"
          const answer = { status: 200, headers: csv({ "Content-Encoding": coding }), body: compress(file) }
          reason(yield* downloading(() => [[respond(half(answer))]]), "Unavailable")
        }
      })
    )
  }

  it.live(
    "a compressed file that breaks off is asked for anew, and goes on behind what came where its ETag is the same",
    () =>
      Effect.gen(function* () {
        const answer = zipped(file, { ETag: '"1"' })
        const ended = yield* downloading((begun) => [cut(answer, begun), [respond(answer)]])
        arrived(ended)
        assert.deepStrictEqual(
          ended.requests.map(({ headers }) => [headers["range"], headers["if-range"]]),
          [
            [undefined, undefined],
            [undefined, undefined]
          ]
        )
      })
  )

  it.live.each([
    ["without ETags", {}, {}, 1],
    ["with another ETag", { ETag: '"1"' }, { ETag: '"2"' }, 2],
    ["without its ETag", { ETag: '"1"' }, {}, 2]
  ] as const)("a compressed file that breaks off and comes again %s is not put together", ([, first, second, count]) =>
    Effect.gen(function* () {
      for (const again of [zipped(other, second), plain(other, second)]) {
        const ended = yield* downloading((begun) => [cut(zipped(file, first), begun), [respond(again)]])
        reason(ended, "Unavailable")
        assert.strictEqual(ended.requests.length, count)
      }
    })
  )

  it.live("a file that comes compressed one time and plain the other is not put together, as one tag is of both", () =>
    Effect.gen(function* () {
      const etag = { ETag: '"1"' }
      reason(
        yield* downloading((begun) => [cut(zipped(file, etag), begun), [respond(plain(file, etag))]]),
        "Unavailable"
      )
      reason(
        yield* downloading((begun) => [cut(plain(file, etag), begun), [respond(zipped(file, etag))]]),
        "Unavailable"
      )
    })
  )

  it.live("a compressed part is not taken for a part of the file", () =>
    Effect.gen(function* () {
      const ended = yield* downloading((begun) => (request) => {
        if (request.number === 0) return cut(plain(file, { ETag: '"1"' }), begun)
        if (request.headers["range"] === undefined) return [respond(plain(file, { ETag: '"1"' }))]
        const part = rest(file, request, { "Content-Encoding": "gzip" })
        return [respond({ ...part, body: gzipSync(part.body ?? "") })]
      })
      arrived(ended)
      assert.deepStrictEqual(
        ended.requests.map(({ headers }) => headers["range"] === undefined),
        [true, false, true]
      )
    })
  )

  const part = (range: string | undefined, status = 206): Answer => ({
    status,
    headers: csv(range === undefined ? {} : { "Content-Range": range }),
    body: file.subarray(0, 1000)
  })

  it.live.each([
    ["a part that nobody asked for", part(`bytes 0-999/${file.length}`)],
    ["a part that says nothing of its place", part(undefined)],
    ["a part that says to be whole", part(`bytes 0-999/1000`, 200)],
    ["a part of another status", part(undefined, 203)],
    ["nothing", { status: 204, headers: { Connection: "close" } }],
    ["a file in an unknown encoding", plain(file, { "Content-Encoding": "zstd" })],
    [
      "a file in two encodings",
      { ...plain(file, { "Content-Encoding": "gzip, gzip" }), body: gzipSync(gzipSync(file)) }
    ]
  ] as ReadonlyArray<readonly [string, Answer]>)("%s is no file", ([, answer]) =>
    Effect.gen(function* () {
      const ended = yield* downloading(() => [[respond(answer)]])
      reason(ended, "InvalidResponse")
      assert.strictEqual(ended.requests.length, 1)
    })
  )

  it.live("a part that was not asked for and never ends is not waited for", () =>
    Effect.gen(function* () {
      const endless = answerBytes({
        status: 206,
        headers: {
          "Content-Type": "text/csv",
          "Content-Range": `bytes 0-999999/${file.length}`,
          "Content-Length": "1000000"
        }
      })
      const ended = yield* trial({
        plan: { requests: [[readBody(), write(endless), stall]] },
        transport,
        call: (server) =>
          Effect.andThen(
            Effect.flatMap(ContactsService, (contacts) =>
              Effect.exit(Stream.runDrain(contacts.download(`${server.origin}/f`)))
            ),
            server.ledger.until((ledger) => ledger.connections()[0]?.closedAt !== undefined, "3 seconds")
          )
      })
      succeeded(ended)
    })
  )

  it.live("the metadata of a response without a body byte is forgotten", () =>
    Effect.gen(function* () {
      const ended = yield* downloading(() => [
        cut(plain(other.subarray(0, 100), { ETag: '"1"' }), [reset], 0),
        [respond(plain(file, { ETag: '"2"' }))]
      ])
      arrived(ended)
    })
  )

  it.live("a part that ends early, or is of a file of another size, is not the rest", () =>
    Effect.gen(function* () {
      const early = yield* downloading((begun) => (request) => {
        if (request.number === 0) return cut(plain(file, { ETag: '"1"' }), begun)
        const { body = "", headers = {}, status } = rest(file, request)
        const from = Number(/^bytes (\d+)/.exec(headers["Content-Range"] ?? "")?.[1])
        const to = Math.min(from + 99_999, file.length - 1)
        const range = { ...headers, "Content-Range": `bytes ${from}-${to}/${file.length}` }
        return [respond({ status, headers: range, body: body.slice(0, to - from + 1) })]
      })
      arrived(early)
      const longer = yield* downloading(
        (begun) => (request) =>
          request.number === 0
            ? cut(plain(file, { ETag: '"1"' }), begun)
            : [respond(rest(Buffer.concat([file, bytes("more")]), request))]
      )
      reason(longer, "Unavailable")
      assert.strictEqual(longer.requests.length, 2)
    })
  )
})
