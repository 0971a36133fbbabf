/**
 * Paths and methods: which there are, and that nobody learns it without a key.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { operations } from "@roster/api"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import { type Answered, ask, askJson, refusedWith, succeeded, succeededEmpty, textField, Wire } from "./Wire.ts"

const wrongKey = "wrong-key-canary-40f2"

/** Asks with a wrong key and with none, at once: each waits longer than the one before. */
const refusedKey = Effect.fnUntraced(function* (method: string, path: string) {
  const answers = yield* Effect.forEach([wrongKey, null], (key) => ask(method, path, { key }), { concurrency: 2 })
  for (const answer of answers) {
    if (method === "HEAD") assert.strictEqual(answer.status, 401)
    else refusedWith(answer, 401)
    assert.notProperty(answer.headers, "allow")
  }
})

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("paths on the wire", (it) => {
  describe("paths", () => {
    it.effect.each([
      ["GET", "/nope"],
      ["GET", ""],
      ["GET", "/"],
      ["GET", "/../v3/contacts"],
      ["GET", "//contacts"],
      ["GET", "/contacts//"],
      ["GET", "/Contacts"],
      ["GET", "/contacts/a@example.com/status"],
      ["GET", "/contacts/export/x/status/y"],
      ["POST", "/emails/x"]
    ] as const)("S29 there is no %s %s", ([method, path]) =>
      Effect.gen(function* () {
        refusedWith(yield* ask(method, path), 404)
      })
    )

    it.effect.each(["/contacts/", "/security/apikeys/", "/security/smtp/", "/contacts/export//status", "/emails/"])(
      "S29 a blank name is no path, whatever the method: %s",
      (path) =>
        Effect.gen(function* () {
          for (const method of ["GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"]) {
            const answer = yield* ask(method, path)
            refusedWith(answer, 404)
            assert.notProperty(answer.headers, "allow")
          }
          assert.strictEqual((yield* ask("HEAD", path)).status, 404)
        })
    )

    it.effect.each([
      "/contacts/%2e",
      "/contacts/%2E%2e",
      "/contacts/%ff",
      "/contacts/%zz",
      "/contacts/a%00b%40example.com",
      "/contacts/a%20b%40example.com",
      "/contacts/a%40b%40example.com",
      "/contacts/%ED%A0%80%40example.com",
      "/contacts/a%0d%0ab%40example.com"
    ])("S29 no contact can be %s", (path) =>
      Effect.gen(function* () {
        for (const method of ["GET", "DELETE"]) refusedWith(yield* ask(method, path), 400)
        refusedWith(yield* askJson("PUT", path, {}), 400)
      })
    )

    it.effect("a query has up to 1000 parameters, and a path of thousands of segments is none", () =>
      Effect.gen(function* () {
        const query = (count: number) => Array<string>(count).fill("listnames=a").join("&")
        succeeded(yield* askJson("POST", `/contacts?${query(1000)}`, [{ Email: "many@example.com" }]))
        const refused = yield* askJson("POST", `/contacts?${query(1001)}`, [{ Email: "more@example.com" }])
        assert.match(refusedWith(refused, 400), /more than 1000 parameters/)
        refusedWith(yield* ask("GET", "/contacts/more@example.com"), 404)
        succeededEmpty(yield* ask("DELETE", "/contacts/many@example.com"))
        for (const segment of ["/..", "/a", "//"]) refusedWith(yield* ask("GET", segment.repeat(3000)), 404)
      })
    )

    it.effect("S29 an address may be percent-encoded or not, in either case, with 254 characters", () =>
      Effect.gen(function* () {
        const email = `%/+?#&='😀${"x".repeat(54)}@${"d".repeat(60)}.${"d".repeat(60)}.${"d".repeat(55)}.example.com`
        assert.strictEqual(email.length, 254)
        succeeded(yield* askJson("POST", "/contacts", [{ Email: email }, { Email: "a+b@example.com" }]))
        for (const path of [
          encodeURIComponent(email),
          encodeURIComponent(email).toLowerCase(),
          encodeURIComponent(email).replace("%40", "@")
        ]) {
          assert.deepInclude(succeeded(yield* ask("GET", `/contacts/${path}`)), { Email: email })
        }
        for (const path of ["a+b@example.com", "a%2Bb%40example.com", "a%2bb@example.com"]) {
          assert.deepInclude(succeeded(yield* ask("GET", `/contacts/${path}`)), { Email: "a+b@example.com" })
        }
        succeededEmpty(yield* ask("DELETE", `/contacts/${encodeURIComponent(email)}`))
      })
    )
  })

  describe("the key is judged before the path", () => {
    const unknown: ReadonlyArray<readonly [method: string, path: string]> = [
      ["GET", "/nope"],
      ["GET", ""],
      ["GET", "/contacts/"],
      ["POST", "/v4/contacts"],
      ["PATCH", "/contacts"],
      ["OPTIONS", "/contacts/a@example.com"],
      ["TRACE", "/emails"],
      ["HEAD", "/nope"],
      ["DELETE", "/openapi.json"],
      ["GET", "/contacts/%ff"],
      ["GET", "/contacts/a%00b%40example.com"],
      ["GET", "/exports/x"]
    ]

    it.effect("a wrong key and none are 401 wherever they ask", () =>
      Effect.forEach(unknown, ([method, path]) => refusedKey(method, path), {
        concurrency: "unbounded",
        discard: true
      })
    )

    it.effect("a valid key of any level learns which paths exist", () =>
      Effect.gen(function* () {
        const AccessLevel = ["SendSMS"]
        const payload = { Name: "of another level", AccessLevel, Subaccount: "paths@example.com" }
        const key = textField(succeeded(yield* askJson("POST", "/security/apikeys", payload), 201), "Token")
        for (const [method, path] of unknown) {
          const { status } = yield* ask(method, path, { key })
          assert.include([400, 404, 405], status, `${method} ${path}`)
        }
        refusedWith(yield* ask("GET", "/nope", { key }), 404)
        refusedWith(yield* ask("GET", "/contacts", { key }), 403)
        const mine = "?subaccount=paths%40example.com"
        succeededEmpty(yield* ask("DELETE", `/security/apikeys/of%20another%20level${mine}`))
        refusedWith(yield* ask("GET", "/nope", { key }), 401)
      })
    )

    it.effect("a key outside its ranges learns nothing", () =>
      Effect.gen(function* () {
        const payload = { Name: "elsewhere", AccessLevel: ["ViewContacts"], RestrictAccessToIPRange: ["10.0.0.0/8"] }
        const key = textField(succeeded(yield* askJson("POST", "/security/apikeys", payload), 201), "Token")
        for (const path of ["/nope", "/contacts/"]) refusedWith(yield* ask("GET", path, { key }), 403)
      })
    )

    it.effect("what needs no key needs none", () =>
      Effect.gen(function* () {
        for (const key of [null, wrongKey]) {
          const document = succeeded(yield* ask("GET", "/openapi.json", { key }))
          assert.strictEqual(textField(document, "openapi").slice(0, 2), "3.")
          const file = "/exports/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/contacts.csv"
          refusedWith(yield* ask("GET", file, { key }), 404)
        }
      })
    )
  })

  describe("methods", () => {
    /** By hand from the service interface; HEAD is answered wherever GET is. */
    const allowed: ReadonlyArray<readonly [path: string, allow: string]> = [
      ["/contacts", "GET, HEAD, POST"],
      ["/contacts/a@example.com", "DELETE, GET, HEAD, PUT"],
      ["/contacts/export/00000000-0000-4000-8000-000000000000/status", "GET, HEAD"],
      ["/security/apikeys", "GET, HEAD, POST"],
      ["/security/apikeys/a", "DELETE, GET, HEAD, PUT"],
      ["/security/smtp", "GET, HEAD, POST"],
      ["/security/smtp/a@example.com", "DELETE, GET, HEAD, PUT"],
      ["/emails", "POST"],
      ["/openapi.json", "GET, HEAD"],
      ["/exports/key/contacts.csv", "GET, HEAD"]
    ]

    it.effect.each(allowed)("S30 of %s are %s, and others 405", ([path, allow]) =>
      Effect.gen(function* () {
        const has = allow.split(", ")
        const all = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"]
        for (const method of all.filter((method) => !has.includes(method))) {
          const answer = yield* ask(method, path)
          assert.strictEqual(answer.headers["allow"], allow, `${method} ${path}`)
          if (method === "HEAD") assert.deepStrictEqual([answer.status, answer.text], [405, ""])
          else assert.include(refusedWith(answer, 405), allow)
        }
      })
    )

    it.effect("are those of the contract", () =>
      Effect.gen(function* () {
        for (const { method, path } of operations.values()) {
          const { status } = yield* ask(method, path.replaceAll(/:\w+/g, "x@example.com"), { body: "[" })
          assert.notInclude([405], status, `${method} ${path}`)
        }
      })
    )

    it.effect("S30 a header changes no method", () =>
      Effect.gen(function* () {
        succeeded(yield* askJson("POST", "/contacts", [{ Email: "method@example.com" }]))
        for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
          const headers = { [name]: "DELETE" }
          succeeded(yield* ask("GET", "/contacts/method@example.com", { headers }))
          refusedWith(yield* ask("POST", "/contacts/method@example.com?_method=DELETE", { headers }), 405)
        }
        succeeded(yield* ask("GET", "/contacts/method@example.com"))
      })
    )

    it.effect("S32 pages of other origins are permitted nothing", () =>
      Effect.gen(function* () {
        const headers = {
          Origin: "https://evil.example",
          "Access-Control-Request-Method": "GET",
          "Access-Control-Request-Headers": "x-service-apikey"
        }
        const permitted = ({ headers }: Answered) =>
          Object.keys(headers).filter((name) => name.startsWith("access-control-"))
        for (const method of ["OPTIONS", "GET", "POST"]) {
          for (const path of ["/contacts", "/openapi.json", "/exports/key/contacts.csv", "/nope"]) {
            const answer = yield* ask(method, path, { headers })
            assert.deepStrictEqual(permitted(answer), [], `${method} ${path}`)
            if (method === "OPTIONS") assert.isAtLeast(answer.status, 400)
          }
        }
        const preflight = yield* ask("OPTIONS", "/contacts", { headers, key: null })
        assert.deepStrictEqual([preflight.status, permitted(preflight)], [401, []])
      })
    )

    it.effect("S30 HEAD is answered as GET is, without the body", () =>
      Effect.gen(function* () {
        succeeded(yield* askJson("POST", "/contacts", [{ Email: "head@example.com" }]))
        for (const path of ["/contacts/head@example.com", "/contacts?limit=5", "/openapi.json"]) {
          const { headers, status, text } = yield* ask("HEAD", path)
          assert.deepStrictEqual([status, text], [200, ""])
          assert.match(String(headers["content-type"]), /^application\/json/)
        }
        assert.strictEqual((yield* ask("HEAD", "/contacts/nobody@example.com")).status, 404)
      })
    )
  })
})

it.effect("the owner of the store needs no key to learn that a path does not exist", () =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const statusOf = (path: string) =>
      Effect.map(client.get(`${EmbeddedHttpClient.baseUrl}${path}`), (response) => response.status)
    assert.deepStrictEqual(
      yield* Effect.forEach(["/nope", "/contacts/", "/emails", "/contacts/%ff"], statusOf),
      [404, 404, 405, 400]
    )
  }).pipe(Effect.provide(EmbeddedHttpClient.layer({ filename: ":memory:" })))
)
