/** The page at the root of a service: to whom it is shown, and what of its folder can be asked for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { html, pageFolder, script } from "./PageFolder.ts"
import { answerTo, bodyOf, rawServed, type RawServed, refusedAs, statusOf } from "./RawServed.ts"

/** A service with a page. */
const servedPage = Effect.fnUntraced(function* (options: Parameters<typeof rawServed>[0] = {}) {
  const folder = yield* pageFolder
  return { ...(yield* rawServed({ ...options, page: { folder } })), folder }
})

const asked = (
  served: RawServed,
  line: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  from?: string
) => answerTo(served, line, { Accept: "text/html", "X-Service-ApiKey": undefined, ...headers }, from)

const headerOf = (answer: string, name: string): string | undefined =>
  new RegExp(`\r\n${name}: (.*)\r\n`, "i").exec(answer)?.[1]

const assertProtected = (answer: string): void => {
  const policy = headerOf(answer, "content-security-policy") ?? ""
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
  for (const part of ["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
    assert.include(policy, part)
  }
  assert.notMatch(policy, /unsafe|http|\*/)
  assert.strictEqual(headerOf(answer, "x-content-type-options"), "nosniff")
  assert.strictEqual(headerOf(answer, "referrer-policy"), "no-referrer")
  assert.strictEqual(headerOf(answer, "cross-origin-opener-policy"), "same-origin")
  assert.include(headerOf(answer, "permissions-policy"), "camera=()")
  assert.isUndefined(headerOf(answer, "access-control-allow-origin"))
}

describe("the page at the root", () => {
  it.live("is for browsers alone, without a key, and loads nothing from elsewhere", () =>
    Effect.gen(function* () {
      const served = yield* servedPage()
      const page = yield* asked(served, "GET /")
      assert.strictEqual(statusOf(page), 200)
      assert.strictEqual(bodyOf(page), html)
      assertProtected(page)
      assert.strictEqual(headerOf(page, "cache-control"), "no-store")
      assert.strictEqual(bodyOf(yield* asked(served, "HEAD /")), "")
      refusedAs(yield* asked(served, "GET /", { Accept: "application/json" }), 401)
      refusedAs(yield* asked(served, "POST /", { "Content-Length": "0" }), 401)
      refusedAs(yield* asked(served, "GET /", { Host: "evil.example" }), 421)
      refusedAs(yield* asked(served, "GET /assets/main.1a2b3c.js", { Host: "evil.example" }), 421)
    })
  )

  it.live("has its files compressed as the client takes them, to keep for ever", () =>
    Effect.gen(function* () {
      const served = yield* servedPage()
      const file = (encoding: string | undefined) =>
        asked(served, "GET /assets/main.1a2b3c.js", { "Accept-Encoding": encoding })
      const plain = yield* file(undefined)
      assert.strictEqual(bodyOf(plain), script)
      assertProtected(plain)
      assert.strictEqual(headerOf(plain, "content-type"), "text/javascript; charset=utf-8")
      assert.strictEqual(headerOf(plain, "cache-control"), "public, max-age=31536000, immutable")
      assert.strictEqual(headerOf(plain, "vary"), "accept-encoding")
      const brotli = yield* file("gzip, deflate, br")
      assert.strictEqual(headerOf(brotli, "content-encoding"), "br")
      assert.strictEqual(brotliDecompressSync(Buffer.from(bodyOf(brotli), "latin1")).toString(), script)
      const zipped = yield* file("br;q=0, gzip;q=0.5")
      assert.strictEqual(headerOf(zipped, "content-encoding"), "gzip")
      assert.strictEqual(gunzipSync(Buffer.from(bodyOf(zipped), "latin1")).toString(), script)
      assert.strictEqual(bodyOf(yield* file("gzip;q=0.0")), script)
    })
  )

  it.live("stays as it was when the service started, and gives no other file", () =>
    Effect.gen(function* () {
      const served = yield* servedPage()
      rmSync(join(served.folder, "index.html"))
      writeFileSync(join(served.folder, "assets/main.1a2b3c.js"), "another")
      writeFileSync(join(served.folder, "assets/later.js"), "secret")
      assert.strictEqual(bodyOf(yield* asked(served, "GET /")), html)
      assert.strictEqual(bodyOf(yield* asked(served, "GET /assets/main.1a2b3c.js")), script)
      for (const path of [
        "/assets/later.js",
        "/assets/notes.txt",
        "/assets/",
        "/assets/../index.html",
        "/assets/..%2f..%2foutside.js",
        "/assets/%2e%2e/%2e%2e/outside.js",
        "/assets/..\\..\\outside.js",
        "/assets/constructor",
        "/assets/__proto__",
        "/index.html",
        "/outside.js"
      ]) {
        const text = refusedAs(yield* asked(served, `GET ${path}`, { "X-Service-ApiKey": served.key }), 404)
        assert.notInclude(text, "secret")
      }
      refusedAs(yield* asked(served, "GET /assets/later.js"), 401)
      refusedAs(yield* asked(served, "GET /assets/main%00.js", { "X-Service-ApiKey": served.key }), 400)
    })
  )

  it.live("is not shown where somebody on the way could read the key, and says what to do", () =>
    Effect.gen(function* () {
      const served = yield* servedPage({
        publicUrl: new URL("https://roster.example/v4"),
        trustedProxies: ["127.0.0.2"]
      })
      const atRoot = (headers: Record<string, string>, from?: string) => asked(served, "GET /", headers, from)
      for (const Host of ["localhost", "localhost:4010", "127.0.0.1", "[::1]:80"]) {
        assert.strictEqual(bodyOf(yield* atRoot({ Host })), html, Host)
      }
      const forwarded = { Host: "roster.example", "X-Forwarded-Proto": "https" }
      assert.strictEqual(bodyOf(yield* atRoot(forwarded, "127.0.0.2")), html)
      const inClear = [
        yield* atRoot({ Host: "roster.example" }),
        yield* atRoot({ Host: "192.0.2.7" }),
        // Nobody may say so but the proxy.
        yield* atRoot(forwarded),
        yield* atRoot({ ...forwarded, "X-Forwarded-Proto": "http" }, "127.0.0.2")
      ]
      for (const answer of inClear) {
        assert.strictEqual(statusOf(answer), 200)
        assert.include(bodyOf(answer), "plain http")
        assert.include(bodyOf(answer), "certificate")
        assert.notInclude(bodyOf(answer), "<script")
      }
    })
  )
})
