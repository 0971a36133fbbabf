/**
 * Under which names the service may be called, and that no name that a client made up gets into a link.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { answerTo, bodyOf, rawServed, type RawServed, refusedAs, statusOf } from "./RawServed.ts"

type Headers = Readonly<Record<string, string | undefined>>

/** The base address of the link of an export, for a request with these headers. */
const linkBase = Effect.fnUntraced(function* (served: RawServed, headers: Headers, from?: string) {
  const answer = yield* answerTo(served, "POST /v4/contacts/export", { "Content-Length": "0", ...headers }, from)
  assert.strictEqual(statusOf(answer), 202, answer)
  const link: unknown = Object(JSON.parse(bodyOf(answer))).Link
  return /^(.*)\/exports\//.exec(String(link))?.[1]
})

const evil = { "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", Forwarded: "host=evil.example" }

describe("the host of a request", () => {
  it.live("S31 may be an IP address or localhost, with any port", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      const { port } = new URL(served.address)
      for (const Host of [
        `127.0.0.1:${port}`,
        "127.0.0.1",
        "192.0.2.7:80",
        "[::1]",
        `[::1]:${port}`,
        "[2001:db8::7]",
        "localhost",
        "LocalHost:4010"
      ]) {
        assert.strictEqual(yield* linkBase(served, { Host }), `http://${Host}/v4`)
      }
    })
  )

  it.live.each([
    "evil.example",
    "evil.example:4010",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "roster.localhost",
    "localhost.",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "::1",
    "[::1",
    "[evil.example]",
    "127.0.0.1:123456",
    "127.0.0.1:",
    "127.0.0.1@evil.example",
    "127.0.0.1/evil.example",
    "127.0.0.1, evil.example",
    ""
  ])("S31 is refused before the key is read, on every path: %s", (Host) =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      for (const path of ["/v4/contacts", "/v4/openapi.json", "/v4/exports/key/a.csv", "/nope"]) {
        for (const key of [served.key, undefined]) {
          const answer = yield* answerTo(served, `GET ${path}`, { Host, "X-Service-ApiKey": key })
          assert.include(refusedAs(answer, 421), "public address")
          assert.notInclude(answer, "evil")
        }
      }
    })
  )

  it.live("S31 is that of an absolute target", () =>
    Effect.gen(function* () {
      const served = yield* rawServed()
      refusedAs(yield* answerTo(served, "GET http://evil.example/v4/contacts"), 421)
      assert.strictEqual(statusOf(yield* answerTo(served, "GET http://127.0.0.1/v4/contacts")), 200)
    })
  )

  it.live("S31 headers of a peer that is no trusted proxy change no link", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ trustedProxies: ["127.0.0.9"] })
      assert.strictEqual(yield* linkBase(served, evil), served.address)
      refusedAs(yield* answerTo(served, "GET /v4/contacts", { ...evil, Host: "evil.example" }), 421)
      refusedAs(
        yield* answerTo(served, "GET /v4/contacts", { "X-Forwarded-Host": "localhost", Host: "evil.example" }),
        421
      )
    })
  )

  it.live.each([
    ["https://roster.example/v4", "https://roster.example/v4"],
    ["https://roster.example", "https://roster.example/v4"],
    ["https://ROSTER.example:8443/lists/v4/", "https://roster.example:8443/lists/v4"]
  ] as const)("S31 may be that of the public URL %s, which begins every link", ([publicUrl, base]) =>
    Effect.gen(function* () {
      const served = yield* rawServed({ publicUrl: new URL(publicUrl), trustedProxies: ["127.0.0.9"] })
      for (const Host of ["roster.example", "Roster.Example:443", "127.0.0.1"]) {
        assert.strictEqual(yield* linkBase(served, { ...evil, Host }), base)
      }
      assert.strictEqual(yield* linkBase(served, evil, "127.0.0.9"), base)
      refusedAs(yield* answerTo(served, "GET /v4/contacts", { Host: "evil.example" }), 421)
    })
  )

  it.live("S31 a trusted proxy says under which address it was called", () =>
    Effect.gen(function* () {
      const served = yield* rawServed({ trustedProxies: ["127.0.0.0/8"] })
      const said = (host: string, proto?: string, Host = "upstream") =>
        linkBase(served, { Host, "X-Forwarded-Host": host, "X-Forwarded-Proto": proto })
      assert.strictEqual(yield* said("roster.example", "https"), "https://roster.example/v4")
      assert.strictEqual(yield* said("roster.example:8443", "HTTPS"), "https://roster.example:8443/v4")
      assert.strictEqual(yield* said("roster.example"), "http://roster.example/v4")
      assert.strictEqual(yield* said("roster.example", "javascript"), "http://roster.example/v4")
      // Some proxies append theirs to what the client sent.
      assert.strictEqual(yield* said("evil.example, roster.example", "http, https"), "https://roster.example/v4")
      assert.strictEqual(
        yield* linkBase(served, { "X-Forwarded-Proto": "https" }),
        served.address.replace("http", "https")
      )
      for (const host of ["evil.example/a", "a b", "user@evil.example", "evil.example?", '"', ""]) {
        refusedAs(yield* answerTo(served, "GET /v4/contacts", { "X-Forwarded-Host": host }), 421)
      }
      refusedAs(yield* answerTo(served, "GET /v4/contacts", { Host: "evil.example" }), 421)
    })
  )
})
