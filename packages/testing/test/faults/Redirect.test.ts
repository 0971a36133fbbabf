/**
 * C.3 Redirects.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { Effect, Exit, Stream } from "effect"
import { canary } from "./Canary.ts"
import { everyOperation, operationCall } from "./EveryOperation.ts"
import { bodyText } from "./server/FaultLedger.ts"
import { respond } from "./server/FaultScript.ts"
import { type FaultServer, faultServer } from "./server/FaultServer.ts"
import { transports, trial } from "./FaultTrial.ts"
import { reason, refusedAs, succeeded } from "./Verdict.ts"

const get = operationCall("contactsByEmailGet")
const send = operationCall("emailsPost")

describe("C.3 Redirects", () => {
  it.live.each([301, 302, 303, 307, 308])("C47 %d to another host is not followed, by any operation", (status) =>
    Effect.gen(function* () {
      const other = yield* faultServer({ requests: [[respond({ status: 200, body: "[]" })]] })
      for (const { call, id } of everyOperation) {
        const headers = { Location: `${other.origin}/v4/stolen?token=secret` }
        const ended = yield* trial({ plan: { requests: [[respond({ status, headers })]] }, call })
        const redirect = reason(ended, "UnexpectedRedirect", id)
        assert.deepStrictEqual([redirect.status, redirect.targetOrigin], [status, other.origin])
        assert.notInclude(redirect.message, "stolen")
        assert.strictEqual(ended.requests.length, 1, id)
      }
      assert.deepStrictEqual([other.ledger.connections(), other.ledger.requests()], [[], []])
    })
  )

  it.live("C47 to the same host it is not followed either", () =>
    Effect.gen(function* () {
      for (const { call } of [get, send]) {
        const ended = yield* trial({
          plan: { requests: [[respond({ status: 302, headers: { Location: "/v4/contacts" } })]] },
          call
        })
        const { targetOrigin } = reason(ended, "UnexpectedRedirect")
        assert.match(targetOrigin, /^http:\/\/127\.0\.0\.1:\d+$/)
        assert.strictEqual(ended.requests.length, 1)
      }
    })
  )

  const locations: ReadonlyArray<readonly [what: string, location: (server: FaultServer) => string]> = [
    ["itself", (server) => `${server.baseUrl}/contacts`],
    ["an address without a scheme", () => "//evil.example/v4"],
    ["a script", () => "javascript:alert(1)"],
    ["a file", () => "file:///etc/passwd"],
    ["data", () => "data:text/html,hello"],
    ["an address with a name in it", () => "https://user:pass@evil.example/"],
    ["an address with line breaks in it", () => "https://evil.example/%0d%0aSet-Cookie:x"],
    ["no address", () => "http://"],
    ["nothing", () => ""],
    ["10 KB", () => `https://evil.example/${"x".repeat(10_000)}`]
  ]

  it.live.each(locations)("C49 to %s", ([, location]) =>
    Effect.gen(function* () {
      for (const { call } of [get, send]) {
        let origin = ""
        const ended = yield* trial({
          plan: { requests: () => [respond({ status: 302, headers: { Location: origin } })] },
          call: (server) => {
            origin = location(server)
            return call
          }
        })
        const redirect = reason(ended, "UnexpectedRedirect")
        assert.match(redirect.targetOrigin, /^(https?:\/\/[\w.:-]+)?$/)
        assert.isBelow(redirect.message.length, 500)
        assert.strictEqual(ended.requests.length, 1)
      }
    })
  )

  it.live.each([
    ["a megabyte", `https://evil.example/${"x".repeat(1_000_000)}`],
    ["a bare line feed and a header of its own", "https://evil.example/\nX-Injected: yes"]
  ] as const)("C49 to %s: a head that cannot be read", ([, location]) =>
    Effect.gen(function* () {
      for (const { call } of [get, send]) {
        const ended = yield* trial({
          plan: { requests: [[respond({ status: 302, headers: { Location: location } })]] },
          call
        })
        assert.isBelow(reason(ended, call === send.call ? "OutcomeUnknown" : "Unavailable").message.length, 500)
        assert.strictEqual(ended.requests.length, call === send.call ? 1 : 3)
      }
    })
  )

  const download = (link: string) =>
    Effect.flatMap(ContactsService, (service) => Stream.mkUint8Array(service.download(link)))
  const file = "Email\r\na@example.com\r\n"

  it.live("C50 the link of an export on another origin is downloaded without the key", () =>
    Effect.gen(function* () {
      const cdn = yield* faultServer({
        requests: [[respond({ status: 200, body: file, headers: { "Content-Type": "text/csv" } })]]
      })
      const ended = yield* trial({ plan: {}, call: download(`${cdn.origin}/files/export.csv?signature=abc`) })
      succeeded(ended)
      if (Exit.isSuccess(ended.exit)) assert.strictEqual(new TextDecoder().decode(ended.exit.value), file)
      const [request] = cdn.ledger.requests()
      assert.strictEqual(request?.target, "/files/export.csv?signature=abc")
      assert.notInclude(JSON.stringify(request?.headers), canary.apiKey)
      assert.notProperty(request?.headers, "x-service-apikey")
      assert.notProperty(request?.headers, "idempotency-key")
      assert.notProperty(request?.headers, "traceparent")
    })
  )

  it.live.each(transports)(
    "C50 a link over http is refused where the service is called by https: %s",
    ([, transport]) =>
      Effect.gen(function* () {
        const evil = yield* faultServer({ requests: [[respond({ status: 200, body: file })]] })
        const ended = yield* trial({
          plan: {},
          transport,
          client: () => ({ baseUrl: "https://roster.example/v4" }),
          call: download(`${evil.origin}/file`)
        })
        assert.include(refusedAs(ended, "InvalidInput").message, "public address")
        assert.deepStrictEqual([evil.ledger.connections(), ended.connections], [[], []])
      })
  )

  it.live("C50 nor is the key sent where the link of an export is redirected to", () =>
    Effect.gen(function* () {
      const evil = yield* faultServer({ requests: [[respond({ status: 200, body: file })]] })
      const cdn = yield* faultServer({
        requests: [[respond({ status: 302, headers: { Location: `${evil.origin}/file` } })]]
      })
      const ended = yield* trial({ plan: {}, call: download(`${cdn.origin}/file`) })
      reason(ended, "UnexpectedRedirect")
      assert.notInclude(
        cdn.ledger
          .requests()
          .map((request) => JSON.stringify(request.headers) + bodyText(request))
          .join(),
        canary.apiKey
      )
      assert.deepStrictEqual(evil.ledger.requests(), [])
    })
  )
})
