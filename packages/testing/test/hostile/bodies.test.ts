/**
 * S16, S17, S19, S21, S23, S24, S25 JSON that is none, of the wrong shape, says two things at once, is too deep or too
 * large, or is compressed: refused before anything is made of it, and nothing is written.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { readFileSync } from "node:fs"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { askServe, killableServe, servePlace } from "../durability/KillableServe.ts"
import { contactsIn, countOf } from "../durability/StoreLook.ts"
import { Hostile } from "./Hostile.ts"
import { type RawAnswer, rawRequest } from "./RawRequest.ts"

const MiB = 1024 * 1024
const Made = Schema.fromJsonString(Schema.Struct({ Token: Schema.String }))
const ErrorBody = Schema.fromJsonString(Schema.Struct({ Error: Schema.String }))

const errorOf = ({ status, text }: RawAnswer, expected: number) => {
  assert.strictEqual(status, expected, text)
  return Effect.map(Effect.orDie(Schema.decodeEffect(ErrorBody)(text)), ({ Error }) => Error)
}

/** A whole request, sized unless its headers say otherwise. */
const ask = Effect.fnUntraced(function* (
  method: string,
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string | number | undefined>> = {}
) {
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  const { serve } = yield* Hostile
  const request = yield* rawRequest(serve, method, path, { "Content-Length": bytes.length, ...headers })
  yield* request.send([bytes])
  return yield* request.answer
}, Effect.scoped)

/** All of the store that a body could want to change. */
const everything = Effect.map(Hostile, ({ place }) => ({
  contacts: contactsIn(place),
  credentials: countOf(place, "credentials"),
  messages: countOf(place, "outbox")
}))

/** Every operation with a JSON body, its limit in MiB, and a body that it takes. */
const operations = [
  ["POST", "/contacts", 8, [{ Email: "body@body.example", CustomFields: { a: "1" } }]],
  ["PUT", "/contacts/there@body.example", 2, { FirstName: "T", CustomFields: { a: "1" } }],
  ["POST", "/contacts/delete", 8, { Emails: ["nobody@body.example"] }],
  ["POST", "/emails", 28, { Recipients: [{ Email: "a@body.example" }], Content: { From: "a@example.com" } }],
  ["POST", "/security/apikeys", 2, { Name: "body", AccessLevel: ["Export"] }],
  ["PUT", "/security/apikeys/there", 2, { Name: "there", AccessLevel: ["Export"] }],
  ["POST", "/security/smtp", 2, { Name: "body@body.example" }],
  ["PUT", "/security/smtp/there@body.example", 2, { Name: "there@body.example" }]
] as const

/** What the operations change, and nothing that they make. */
const arranged = Effect.gen(function* () {
  const made = [
    yield* ask("POST", "/contacts", JSON.stringify([{ Email: "there@body.example" }])),
    yield* ask("POST", "/security/apikeys", JSON.stringify({ Name: "there", AccessLevel: [] })),
    yield* ask("POST", "/security/smtp", JSON.stringify({ Name: "there@body.example" }))
  ]
  for (const { status, text } of made) assert.include([200, 201, 409], status, text)
  for (const path of ["/security/apikeys/body", "/security/smtp/body@body.example", "/contacts/body@body.example"]) {
    yield* ask("DELETE", path, "")
  }
  return yield* everything
})

/** That every operation refuses a body, which is made of one that it takes, before anything comes of it. */
const refusedEverywhere = Effect.fnUntraced(function* (
  spoiled: (body: string, mebibytes: number) => string | Uint8Array,
  status: number,
  issue: (mebibytes: number) => RegExp,
  headers?: Readonly<Record<string, string | undefined>>
) {
  const before = yield* arranged
  for (const [method, path, mebibytes, body] of operations) {
    const answer = yield* ask(method, path, spoiled(JSON.stringify(body), mebibytes), headers)
    assert.match(yield* errorOf(answer, status), issue(mebibytes), `${method} ${path}`)
  }
  assert.deepStrictEqual(yield* everything, before)
})

const serving = Hostile.layer("--allow-sender", "*@example.com")

layer(serving, { excludeTestServices: true, timeout: "60 seconds" })("S.2 hostile bodies", (it) => {
  /** The last name of a body, written in another way. */
  const lastName = /"(\w)(\w*)":(?!.*":)/

  it.effect("S19 every operation takes its body, and refuses it with a name given twice", () =>
    Effect.gen(function* () {
      yield* arranged
      for (const [method, path, , body] of operations) {
        const { status, text } = yield* ask(method, path, JSON.stringify(body))
        assert.include([200, 201], status, text)
      }
      const twice = () => /^Invalid body: an object gives a name twice, the second time at character \d+$/
      yield* refusedEverywhere((body) => body.replace(lastName, '"$1$2":null,"$1$2":'), 400, twice)
      const escaped = (_: string, first: string, rest: string) =>
        `"${first}${rest}":null,"\\u${first.charCodeAt(0).toString(16).padStart(4, "0")}${rest}":`
      yield* refusedEverywhere((body) => body.replace(lastName, escaped), 400, twice)
    })
  )

  it.effect("S19 a custom field given twice is found in any contact, and its name is not repeated", () =>
    Effect.gen(function* () {
      const before = yield* arranged
      const contact = (n: number) => `{"Email":"twice${n}@body.example","CustomFields":{"secret":"1","other":"2"}}`
      const contacts = Array.from({ length: 1000 }, (_, n) => contact(n))
      contacts[999] = contact(999).replace("other", "secret")
      const text = yield* errorOf(yield* ask("POST", "/contacts", `[${contacts.join(",\n")}]`), 400)
      const at = Number(/twice, the second time at character (\d+)$/.exec(text)?.[1])
      assert.strictEqual(contacts.join(",\n").lastIndexOf('"secret"') + 2, at)
      assert.notInclude(text, "secret")
      assert.deepStrictEqual(yield* everything, before)
    })
  )

  it.effect("S21 very deep JSON is refused by its depth, in every operation", () =>
    Effect.gen(function* () {
      const tooDeep = () => /^Invalid body: it is nested too deep; the limit is 64$/
      yield* refusedEverywhere(() => "[".repeat(100_000) + "]".repeat(100_000), 400, tooDeep)
      yield* refusedEverywhere(() => "[".repeat(100_000), 400, tooDeep)
      yield* refusedEverywhere(() => '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000), 400, tooDeep)
      const deep = (depth: number) => `[{"Email":"deep@body.example","x":${"[".repeat(depth)}${"]".repeat(depth)}}]`
      assert.strictEqual((yield* ask("POST", "/contacts", deep(62))).status, 200)
      assert.match(yield* errorOf(yield* ask("POST", "/contacts", deep(63)), 400), tooDeep())
    })
  )

  it.effect("S16 what is no JSON is refused by every operation", () =>
    Effect.gen(function* () {
      const noJson = () => /^Invalid body: /
      for (const spoiled of [
        () => "{[",
        (body: string) => body.slice(0, -1),
        (body: string) => `${body}}`,
        (body: string) => `${body} x`,
        (body: string) => body.replace(/([\]}])$/, ",$1"),
        (body: string) => `/* a comment */ ${body}`,
        (body: string) => `${body} // a comment`,
        (body: string) => body.replaceAll('"', "'"),
        (body: string) => body.replace(/"(\w+)":/, "$1:"),
        (body: string) => body.replace(/([\]}])$/, ',"x":NaN$1'),
        (body: string) => body.replace(":", ":01")
      ])
        yield* refusedEverywhere(spoiled, 400, noJson)
    })
  )

  const wholeKey = {
    Name: "there",
    AccessLevel: ["Export"],
    Expires: "2999-01-01T00:00:00Z",
    RestrictAccessToIPRange: ["192.0.2.0/24"],
    Subaccount: "sub@body.example"
  }

  /** Bodies with all that may be in them. */
  const wholes = [
    [
      "POST",
      "/contacts",
      [
        {
          Email: "body@body.example",
          Status: "Active",
          FirstName: "A",
          LastName: "B",
          CustomFields: { a: "1" },
          Consent: { ConsentIP: "192.0.2.1", ConsentDate: "2024-01-02T03:04:05Z", ConsentTracking: "Allow" }
        }
      ]
    ],
    ["PUT", "/contacts/there@body.example", { FirstName: "T", LastName: "B", CustomFields: { a: "1" } }],
    ["POST", "/contacts/delete", { Emails: ["nobody@body.example"] }],
    ["POST", "/contacts/delete", { Rule: "email = 'nobody@body.example'" }],
    [
      "POST",
      "/emails",
      {
        Recipients: [{ Email: "a@body.example" }],
        Content: { From: "a@example.com", Subject: "S", Body: [{ ContentType: "HTML", Content: "<p>" }] }
      }
    ],
    ["POST", "/security/apikeys", wholeKey],
    ["PUT", "/security/apikeys/there", wholeKey],
    ["POST", "/security/smtp", { Name: "body@body.example", Subaccount: "sub@body.example" }],
    ["PUT", "/security/smtp/there@body.example", { Name: "there@body.example", Expires: "2999-01-01T00:00:00Z" }]
  ] as const

  /** A number that no field takes. */
  const canary = 40_990_417

  /** Copies of a value, each with the canary in place of one part, and the path to that part. */
  const spoiledParts = (value: unknown, path = ""): ReadonlyArray<readonly [path: string, spoiled: unknown]> => {
    if (typeof value !== "object" || value === null) return [[path, canary]]
    const parts = Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
      const to = Array.isArray(value) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`
      return spoiledParts(part, to).map(
        ([at, spoiled]) => [at, Array.isArray(value) ? [spoiled] : { ...value, [name]: spoiled }] as const
      )
    })
    return [[path, canary], ...parts]
  }

  it.effect("S17 a body of the wrong type is refused by every operation, with the field and without the value", () =>
    Effect.gen(function* () {
      const before = yield* arranged
      for (const [method, path, whole] of wholes) {
        for (const body of [null, "x", true, [[canary]], [null], Array.isArray(whole) ? {} : [1]]) {
          const text = yield* errorOf(yield* ask(method, path, JSON.stringify(body)), 400)
          assert.notInclude(text, String(canary), `${method} ${path}`)
        }
        for (const [at, body] of spoiledParts(whole)) {
          const text = yield* errorOf(yield* ask(method, path, JSON.stringify(body)), 400)
          assert.include(text, `Invalid ${at === "" ? "body" : at}: `, `${method} ${path}`)
          assert.notInclude(text, String(canary))
        }
      }
      assert.deepStrictEqual(yield* everything, before)
    })
  )

  it.effect.each(["", " ", "a b", "é", "a\tb", "k".repeat(256), "a\r\nIdempotency-Key: b"])(
    "an Idempotency-Key of other characters, too long or given twice (%j) is refused, and nothing is done",
    (key) =>
      Effect.gen(function* () {
        const before = yield* arranged
        for (const [method, path, , body] of operations) {
          if (method !== "POST") continue
          const answer = yield* ask(method, path, JSON.stringify(body), { "Idempotency-Key": key })
          assert.match(yield* errorOf(answer, 400), /1 to 255 visible ASCII characters/, path)
        }
        assert.deepStrictEqual(yield* everything, before)
      })
  )

  it.effect("S25 a body without a type, or of another one, is 415 in every operation", () =>
    Effect.gen(function* () {
      const another = () => /send it with Content-Type: application\/json/
      for (const type of [
        undefined,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=b",
        "application/json; charset=utf-7",
        "application/json; charset=utf-16",
        "application/json, text/plain"
      ])
        yield* refusedEverywhere((body) => body, 415, another, { "Content-Type": type })
    })
  )

  it.effect.each([
    ["PUT", "/contacts/there@body.example", '{"x":[', 10_000 - 1],
    ["POST", "/contacts", '[{"Email":"there@body.example","x":[', 300_000 - 3],
    ["POST", "/contacts/delete", '{"Emails":["nobody@body.example"],"x":[', 200_000 - 3],
    [
      "POST",
      "/emails",
      '{"Recipients":[{"Email":"a@body.example"}],"Content":{"From":"a@example.com"},"x":[',
      100_000 - 6
    ]
  ] as const)("S23 as many names and elements as %s %s takes, and one more", ([method, path, start, count]) =>
    Effect.gen(function* () {
      yield* arranged
      const body = (count: number) =>
        `${start}${Array<number>(count).fill(1).join()}]}${start.startsWith("[") ? "]" : ""}`
      const { status, text } = yield* ask(method, path, body(count))
      assert.strictEqual(status, 200, text)
      const before = yield* everything
      assert.match(yield* errorOf(yield* ask(method, path, body(count + 1)), 400), /more than \d+ names and elements/)
      assert.deepStrictEqual(yield* everything, before)
    })
  )

  it.effect("S23 a body of the limit is taken, sized or chunk by chunk", () =>
    Effect.gen(function* () {
      const { serve } = yield* Hostile
      yield* arranged
      for (const [method, path, mebibytes, body] of operations) {
        const bytes = Buffer.from(JSON.stringify(body).padEnd(mebibytes * MiB))
        const sized = yield* ask(method, path, bytes)
        assert.include([200, 201], sized.status, sized.text)
        yield* arranged
        const request = yield* rawRequest(serve, method, path, { "Transfer-Encoding": "chunked" })
        yield* request.send([`${bytes.length.toString(16)}\r\n`, bytes, "\r\n0\r\n\r\n"])
        const chunked = yield* request.answer
        assert.include([200, 201], chunked.status, chunked.text)
        yield* arranged
      }
    }).pipe(Effect.scoped)
  )

  it.effect("S23 a body above the limit is 413 before any of it is sent, and the connection closes", () =>
    Effect.gen(function* () {
      const { serve } = yield* Hostile
      const before = yield* arranged
      for (const [method, path, mebibytes] of operations) {
        const request = yield* rawRequest(serve, method, path, { "Content-Length": mebibytes * MiB + 1 })
        const answer = yield* request.answer
        assert.include(yield* errorOf(answer, 413), `larger than ${mebibytes} MiB`)
        assert.match(answer.headers, /^connection: close$/im)
        yield* request.closed
      }
      assert.deepStrictEqual(yield* everything, before)
    }).pipe(Effect.scoped)
  )

  it.effect("S23 a chunked body without end is 413 at the limit, and the connection closes", () =>
    Effect.gen(function* () {
      const { serve } = yield* Hostile
      const before = yield* arranged
      const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(MiB, " "), Buffer.from("\r\n")])
      const endless = function* () {
        for (;;) yield chunk
      }
      for (const [method, path, mebibytes] of operations) {
        const request = yield* rawRequest(serve, method, path, { "Transfer-Encoding": "chunked" })
        const [sent, answer] = yield* Effect.all([request.send(endless()), request.answer], { concurrency: 2 })
        assert.include(yield* errorOf(answer, 413), `larger than ${mebibytes} MiB`)
        yield* request.closed
        // What is on its way was sent too; the system makes the buffers of both ends as large as it likes.
        assert.isBelow(sent, (mebibytes + 64) * MiB)
      }
      assert.deepStrictEqual(yield* everything, before)
    }).pipe(Effect.scoped)
  )

  it.effect("S23 a refusal does not wait for a body, and closes the connection unless the rest is small", () =>
    Effect.gen(function* () {
      const { serve } = yield* Hostile
      const stranger = { ...serve, apiKey: "none" }
      const chunked = { "Transfer-Encoding": "chunked" }
      for (const [who, headers, status, isClosed] of [
        [stranger, { "Content-Length": 64 * 1024 + 1 }, 401, true],
        [stranger, { "Content-Length": 64 * 1024 }, 401, false],
        [stranger, chunked, 401, true],
        [serve, { ...chunked, "Content-Type": "text/plain" }, 415, true],
        [serve, { "Content-Length": 64 * 1024, "Content-Type": "text/plain" }, 415, false]
      ] as const) {
        const request = yield* rawRequest(who, "POST", "/contacts", headers)
        const answer = yield* request.answer
        assert.strictEqual(answer.status, status)
        assert.strictEqual(/^connection: close$/im.test(answer.headers), isClosed)
        if (isClosed) yield* request.closed
        else assert.isTrue(request.isOpen())
      }
    }).pipe(Effect.scoped)
  )

  it.effect("S24 a compressed body is 415, however it is compressed and whatever is in it", () =>
    Effect.gen(function* () {
      const compressed = () => /compressed: send it without Content-Encoding/
      yield* refusedEverywhere((body) => gzipSync(body), 415, compressed, { "Content-Encoding": "gzip" })
      yield* refusedEverywhere((body) => brotliCompressSync(body), 415, compressed, { "Content-Encoding": "br" })
      const stacked = { "Content-Encoding": "gzip, br" }
      yield* refusedEverywhere((body) => brotliCompressSync(gzipSync(body)), 415, compressed, stacked)
      const bomb = gzipSync(Buffer.alloc(64 * MiB, " "))
      yield* refusedEverywhere(() => bomb, 415, compressed, { "Content-Encoding": "gzip" })
      const before = yield* everything
      const type = { "Content-Type": "multipart/form-data; boundary=b", "Content-Encoding": "gzip" }
      assert.match(yield* errorOf(yield* ask("POST", "/contacts/import", bomb, type), 415), compressed())
      assert.deepStrictEqual(yield* everything, before)
      const [first] = operations
      const plain = yield* ask(first[0], first[1], JSON.stringify(first[3]), { "Content-Encoding": "identity" })
      assert.strictEqual(plain.status, 200)
    })
  )
})

layer(NodeServices.layer, { timeout: "60 seconds", excludeTestServices: true })(
  "S.2 many large bodies at once",
  (it) => {
    /** The most memory that a process had, in MiB. */
    const peakOf = (pid: number) =>
      Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

    it.effect(
      "S23 40 MiB are held in all, 28 of an account: more is 503 or 429 with Retry-After, and who holds less gets room",
      () =>
        Effect.gen(function* () {
          const serve = yield* killableServe(yield* servePlace)
          const body = Buffer.from(JSON.stringify([{ Email: "large@body.example" }]).padEnd(8 * MiB))
          const ofSubaccount = Effect.fnUntraced(function* (name: string) {
            const AccessLevel = ["ModifyContacts"]
            const key = { Name: name, AccessLevel, Subaccount: `${name}@body.example` }
            const made = yield* askServe(serve, "POST", "/security/apikeys", key)
            return { ...serve, apiKey: (yield* Schema.decodeEffect(Made)(made.text)).Token }
          })
          const [first, second, third] = [
            yield* ofSubaccount("first"),
            yield* ofSubaccount("second"),
            yield* ofSubaccount("third")
          ]
          const post = (length: number, who = first) =>
            rawRequest(who, "POST", "/contacts", { "Content-Length": length })
          const whole = (length: number, who = first) =>
            Effect.gen(function* () {
              const request = yield* post(length, who)
              yield* request.send([body.subarray(0, length)])
              return yield* request.answer
            }).pipe(Effect.scoped)
          /** The answer to the head of a request, which holds no bytes itself, if it is refused. */
          const refusal = post(64 * 1024 + 1).pipe(
            Effect.flatMap(({ answer }) => Effect.timeoutOption(answer, "250 millis")),
            Effect.scoped
          )
          // Both but for the last byte of each.
          const allBut = Effect.fnUntraced(function* () {
            const requests = yield* Effect.forEach([first, first, first, second, second], (who) =>
              post(body.length, who)
            )
            yield* Effect.forEach(requests, (request) => request.send([body.subarray(0, -1)]), { concurrency: 5 })
            return requests
          })
          const large = yield* allBut()
          // The service has them once it takes no more.
          const refused = Option.getOrThrow(yield* eventually(refusal, Option.isSome))
          assert.match(yield* errorOf(refused, 503), /40 MiB in all/)
          assert.match(refused.headers, /^retry-after: 1$/im)
          assert.match(refused.headers, /^connection: close$/im)
          const beyond = yield* whole(body.length)
          assert.match(yield* errorOf(beyond, 429), /28 MiB together/)
          assert.match(beyond.headers, /^retry-after: 1$/im)
          assert.strictEqual((yield* whole(64 * 1024)).status, 200)
          // The main account has its own share.
          assert.strictEqual((yield* whole(64 * 1024 + 1, serve)).status, 200)
          // One of the five gives its place to an account that holds less.
          assert.strictEqual((yield* whole(64 * 1024 + 1, third)).status, 200)
          yield* Effect.forEach(large, (request) => request.send([" "]), { concurrency: 5 })
          const statuses = yield* Effect.forEach(large, ({ answer }) => Effect.map(answer, ({ status }) => status))
          assert.deepStrictEqual(statuses.toSorted(), [200, 200, 200, 200, 503])
          assert.strictEqual((yield* whole(64 * 1024 + 1)).status, 200)
          // A connection that breaks gives back what it holds.
          yield* allBut().pipe(Effect.andThen(eventually(refusal, Option.isSome)), Effect.scoped)
          yield* eventually(whole(body.length), ({ status }) => status === 200)
          assert.isBelow(peakOf(serve.pid), 500)
        }).pipe(Effect.scoped)
    )
  }
)
