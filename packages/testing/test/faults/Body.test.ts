/**
 * C.4 Bodies.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, CredentialsService, EmailAddress } from "@roster/domain"
import { DateTime, Effect, Exit } from "effect"
import { gzipSync } from "node:zlib"
import { credentialNames, everyOperation, operationCall } from "./EveryOperation.ts"
import { type Answer, answerBytes, drip, flood, readBody, respond, write } from "./server/FaultScript.ts"
import { trial } from "./FaultTrial.ts"
import { failure, reason, refusedAs, succeeded } from "./Verdict.ts"

const get = operationCall("contactsByEmailGet")
const load = Effect.flatMap(ContactsService, (service) => service.get("a@example.com"))
const list = Effect.flatMap(ContactsService, (service) => service.list())
const adding = Effect.flatMap(ContactsService, (service) =>
  service.addWithoutAnswer([{ email: EmailAddress.make("a@example.com") }])
)

/** What the client makes of an answer. */
const reading = <A, E>(call: Effect.Effect<A, E, ContactsService>, answer: Answer) =>
  trial({ plan: { requests: [[respond(answer)]] }, call })

/** The same, where it must be a success. */
const read = Effect.fnUntraced(function* <A, E extends { readonly _tag: string; readonly message: string }>(
  call: Effect.Effect<A, E, ContactsService>,
  answer: Answer
) {
  const ended = yield* reading(call, answer)
  succeeded(ended)
  if (Exit.isFailure(ended.exit)) return yield* Effect.die(new Error("no success"))
  return ended.exit.value
})

const json = (body: unknown): Answer => ({ status: 200, body: JSON.stringify(body) })
const returnsBody = everyOperation.filter((operation) => operation.answer.body !== undefined)

describe("C.4 Bodies", () => {
  it.live("C51 a login page with 200 is reported as such and not retried", () =>
    Effect.gen(function* () {
      const body = "<!doctype html><html><head><title>Sign in</title></head><body><form>Password</form></body></html>"
      for (const { call, id } of returnsBody) {
        const ended = yield* trial({
          plan: { requests: [[respond({ status: 200, headers: { "Content-Type": "text/html" }, body })]] },
          call
        })
        const said = reason(ended, "UnexpectedContentType", id)
        assert.deepStrictEqual([said.status, said.contentType], [200, "text/html"], id)
        assert.include(said.snippet, "Sign in")
        assert.strictEqual(ended.requests.length, 1, id)
      }
    })
  )

  it.live("C51 a login page where nothing is due is no success", () =>
    Effect.gen(function* () {
      const page = { status: 200, headers: { "Content-Type": "text/html" }, body: "<html>Sign in</html>" }
      for (const { call, id } of everyOperation.filter((operation) => operation.answer.body === undefined)) {
        const ended = yield* trial({ plan: { requests: [[respond(page)]] }, call })
        reason(ended, "UnexpectedContentType", id)
        assert.strictEqual(ended.requests.length, 1, id)
      }
    })
  )

  it.live.each([
    "",
    "null",
    "[]",
    "{}",
    "1",
    '"text"',
    '{"Error":"no such thing"}',
    "[null]",
    "[1]",
    '{"Email":',
    "{}{}",
    "undefined"
  ])("C52 200 with %s where a record is due: a typed failure that says where, not repeated", (body) =>
    Effect.gen(function* () {
      for (const { answer, call, id } of returnsBody) {
        const isList = answer.body?.toString().startsWith("[") === true
        if (isList && body === "[]") continue
        // Whatever text the status is, it is a status; an answer to a message may say nothing of it.
        if (id === "contactsExportByIdStatusGet" && body === '"text"') continue
        if (id === "emailsPost" && body.startsWith("{") && body.endsWith("}") && body !== "{}{}") continue
        const ended = yield* trial({
          plan: { requests: [[respond({ ...answer, body, headers: { "Content-Type": "application/json" } })]] },
          call
        })
        const said = reason(ended, ["InvalidResponse", "OutcomeUnknown"], id)
        const error = failure(ended)
        assert.propertyVal(error, "operation", id)
        assert.isNotEmpty(said.message)
        assert.strictEqual(ended.requests.length, 1, id)
      }
    })
  )

  it.live("C54 a byte order mark is accepted", () =>
    Effect.gen(function* () {
      const contact = yield* read(load, { status: 200, body: '\ufeff{"Email":"a@example.com"}' })
      assert.strictEqual(contact.email, "a@example.com")
      // In whatever pieces it comes, and where only its ends are looked at too.
      const marked = answerBytes({ status: 200, body: '\ufeff[{"Email":"a@example.com"}]\n' })
      succeeded(yield* trial({ plan: { requests: [[readBody(), drip(marked, "1 millis")]] }, call: adding }))
    })
  )

  it.live.each([
    ["UTF-16 LE", Buffer.from('\ufeff{"Email":"a@example.com"}', "utf16le"), "application/json"],
    ["UTF-16, declared", Buffer.from('{"Email":"a@example.com"}', "utf16le"), "application/json; charset=utf-16"],
    ["Latin-1, declared", Buffer.from('{"Email":"é@example.com"}', "latin1"), "application/json; charset=iso-8859-1"],
    [
      "Latin-1, declared, of ASCII alone",
      Buffer.from('{"Email":"a@example.com"}', "latin1"),
      "application/json; charset=iso-8859-1"
    ],
    ["Latin-1, undeclared", Buffer.from('{"Email":"é@example.com"}', "latin1"), "application/json"],
    [
      "bytes that are no UTF-8",
      Buffer.concat([Buffer.from('{"Email":"a'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
      "application/json"
    ]
  ] as const)("C54 %s: a typed failure, never a wrong letter", ([, body, type]) =>
    Effect.gen(function* () {
      const ended = yield* reading(load, { status: 200, headers: { "Content-Type": type }, body })
      reason(ended, ["InvalidResponse", "UnexpectedContentType"])
      assert.strictEqual(ended.requests.length, 1)
    })
  )

  it.live.each([
    "application/json",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "text/json",
    "application/problem+json",
    "APPLICATION/JSON"
  ])("C54 %s is JSON", (type) =>
    Effect.asVoid(read(load, { status: 200, headers: { "Content-Type": type }, body: '{"Email":"é@example.com"}' }))
  )

  it.live("C55 of a key that is given twice the last value counts", () =>
    Effect.gen(function* () {
      const contact = yield* read(load, {
        status: 200,
        body: '{"Email":"a@example.com","FirstName":"A","FirstName":"B","CustomFields":{"x":"1","x":"2"}}'
      })
      assert.deepStrictEqual<unknown>([contact.firstName, contact.customFields?.["x"]], ["B", "2"])
    })
  )

  it.live("C56 __proto__ and constructor change nothing but themselves, in custom fields too", () =>
    Effect.gen(function* () {
      const fields = '"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}'
      const contact = yield* read(load, {
        status: 200,
        body: `{"Email":"a@example.com",${fields},"CustomFields":{"__proto__":"p","constructor":"c","toString":"t","hasOwnProperty":"h"}}`
      })
      const own = contact.customFields ?? {}
      assert.deepStrictEqual(Object.entries(own).sort(), [
        ["__proto__", "p"],
        ["constructor", "c"],
        ["hasOwnProperty", "h"],
        ["toString", "t"]
      ])
      assert.isUndefined(Reflect.get({}, "polluted"))
      assert.isUndefined(Reflect.get(contact, "polluted"))
      assert.strictEqual(Object.getPrototypeOf(contact), Object.prototype)
    })
  )

  const zones = ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Kiritimati"]
  const dated = (date: unknown) => json({ Email: "a@example.com", DateUpdated: date })

  it.live.each([
    ["2024-03-10T02:30:00", "2024-03-10T02:30:00.000Z"],
    ["2024-01-02T03:04:05.1234567", "2024-01-02T03:04:05.123Z"],
    ["2024-01-02T03:04:05.1234567Z", "2024-01-02T03:04:05.123Z"],
    ["2024-01-02T03:04:05+05:30", "2024-01-01T21:34:05.000Z"],
    ["0001-01-01T00:00:00", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.9999999", "9999-12-31T23:59:59.999Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"]
  ] as const)("C58 %s is %s, whatever zone the machine is in", ([text, instant]) =>
    Effect.gen(function* () {
      const before = process.env["TZ"]
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (before === undefined) delete process.env["TZ"]
          else process.env["TZ"] = before
        })
      )
      for (const zone of zones) {
        process.env["TZ"] = zone
        const { dateUpdated } = yield* read(load, dated(text))
        assert.strictEqual(dateUpdated == null ? undefined : DateTime.formatIso(dateUpdated), instant, zone)
      }
    })
  )

  it.live.each([
    "2024-02-30T00:00:00Z",
    "2023-02-29",
    "2024-01-02T24:00:00Z",
    "2016-12-31T23:59:60Z",
    "yesterday",
    "2024-13-01T00:00:00Z",
    "/Date(0)/",
    0,
    true
  ])("C58 %s is no date: a typed failure that says where", (date) =>
    Effect.gen(function* () {
      const ended = yield* reading(load, dated(date))
      assert.match(reason(ended, "InvalidResponse").message, /dateUpdated/i)
      assert.strictEqual(ended.requests.length, 1)
    })
  )

  it.live("C58 no date is null, and an empty text is left out", () =>
    Effect.gen(function* () {
      assert.isNull((yield* read(load, dated(null))).dateUpdated)
      assert.notProperty(yield* read(load, dated("")), "dateUpdated")
    })
  )

  it.live.each([
    ["a NUL", "a\u0000b"],
    ["separators", "a\u2028\u2029b"],
    ["emoji", "👩‍👩‍👧 😀"],
    ["a megabyte", "é".repeat(500_000)],
    ["quotes and backslashes", '\\"\\u0000</script>']
  ] as const)("C59 %s in a text comes as it was sent", ([, text]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read(load, json({ Email: "a@example.com", FirstName: text }))).firstName, text)
    })
  )

  it.live("C59 a lone surrogate arrives as it was sent, or is a typed failure", () =>
    Effect.gen(function* () {
      const ended = yield* reading(load, { status: 200, body: '{"Email":"a@example.com","FirstName":"a\\ud800b"}' })
      if (Exit.isSuccess(ended.exit)) assert.strictEqual(ended.exit.value.firstName, "a\ud800b")
      else reason(ended, "InvalidResponse")
    })
  )

  const limit = 32 * 1024 * 1024
  const chunk = `{"Email":"${"x".repeat(65_000)}@example.com"},`

  /** Runs something, and gives how much more memory was held at its peak. */
  const growth = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
    const before = process.memoryUsage().rss
    let peak = before
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss)
    }, 5)
    const result = yield* Effect.ensuring(
      effect,
      Effect.sync(() => clearInterval(timer))
    )
    return { result, mebibytes: (peak - before) / 1024 / 1024 }
  })

  it.live.each([
    [
      "50 MB, as its length says",
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\n\r\n["
    ],
    ["no end", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n["]
  ] as const)(
    "C61 a body of %s is cut at the limit, and its connection closed",
    ([, head]) =>
      Effect.gen(function* () {
        const { mebibytes, result } = yield* growth(
          trial({ plan: { requests: [[readBody(), write(head), flood(chunk)]] }, call: list })
        )
        assert.strictEqual(reason(result, "ResponseTooLarge").maximumBytes, limit)
        assert.strictEqual(result.requests.length, 1)
        assert.strictEqual(result.connections[0]?.closedBy, "client")
        assert.isBelow(mebibytes, 96)
      }),
    60_000
  )

  it.live(
    "C61 an endless body in chunks is cut too, that of a refusal as well",
    () =>
      Effect.gen(function* () {
        const piece = Buffer.from(chunk)
        const framed = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
        for (const status of [200, 400, 500]) {
          const head = answerBytes({
            status,
            headers: { "Transfer-Encoding": "chunked", "Content-Type": "application/json" }
          })
          const ended = yield* trial({
            plan: { requests: [[readBody(), write(head), flood(framed)]] },
            call: list,
            policy: { attempts: 1 }
          })
          reason(ended, ["ResponseTooLarge", "Rejected", "Unavailable"], String(status))
          assert.strictEqual(ended.connections[0]?.closedBy, "client")
        }
      }),
    60_000
  )

  it.live("C63 a compressed answer is read, where one comes", () =>
    Effect.gen(function* () {
      const ended = yield* trial({
        plan: {
          requests: ({ headers }) => {
            const body = JSON.stringify({ Email: "a@example.com" })
            // A server that compresses for whoever asks for it, and for nobody else.
            const isAsked = /gzip/.test(headers["accept-encoding"] ?? "")
            return [
              respond(
                isAsked
                  ? { status: 200, headers: { "Content-Encoding": "gzip" }, body: gzipSync(body) }
                  : { status: 200, body }
              )
            ]
          }
        },
        call: load
      })
      succeeded(ended)
    })
  )

  it.live("C63 an unrequested compressed response is read or refused, and never misread", () =>
    Effect.gen(function* () {
      const ended = yield* reading(load, {
        status: 200,
        headers: { "Content-Encoding": "gzip", "Content-Type": "application/json" },
        body: gzipSync('{"Email":"a@example.com"}')
      })
      if (Exit.isSuccess(ended.exit)) assert.strictEqual(ended.exit.value.email, "a@example.com")
      else reason(ended, ["InvalidResponse", "UnexpectedContentType", "Unavailable"])
    })
  )

  it.live(
    "C63 a small answer that unpacks to more than the limit is cut",
    () =>
      Effect.gen(function* () {
        const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, " "))
        const { mebibytes, result } = yield* growth(
          reading(list, {
            status: 200,
            headers: { "Content-Encoding": "gzip", "Content-Type": "application/json" },
            body: bomb
          })
        )
        reason(result, ["ResponseTooLarge", "InvalidResponse", "Unavailable"])
        assert.isBelow(mebibytes, 96)
      }),
    60_000
  )

  it.live("C64 unknown fields and new values are kept or left, and fail nothing", () =>
    Effect.gen(function* () {
      const [contact] = yield* read(
        list,
        json([
          {
            Email: "a@example.com",
            Status: "Hibernating",
            Source: "Telepathy",
            NewField: { a: [1] },
            Consent: { ConsentTracking: "Maybe", New: 1 }
          }
        ])
      )
      assert.deepStrictEqual<unknown>(
        [contact?.status, contact?.source, contact?.consent?.tracking],
        ["Hibernating", "Telepathy", "Maybe"]
      )
      assert.notProperty(contact, "NewField")
      const key = json({ Name: credentialNames.apiKey, AccessLevel: ["ViewContacts", "ViewDreams"] })
      const ended = yield* trial({
        plan: { requests: [[respond(key)]] },
        call: Effect.flatMap(CredentialsService, ({ apiKeys }) => apiKeys.get(credentialNames.apiKey))
      })
      succeeded(ended)
      if (Exit.isSuccess(ended.exit))
        assert.deepStrictEqual<ReadonlyArray<string>>(ended.exit.value.accessLevels, ["ViewContacts", "ViewDreams"])
      const status = yield* trial({
        plan: { requests: [[respond(json("Sleeping"))]] },
        call: operationCall("contactsExportByIdStatusGet").call
      })
      succeeded(status)
    })
  )

  it.live("C58 the levels of a key that are missing or null fail no list, and are taken away by no update", () =>
    Effect.gen(function* () {
      const { apiKey: name } = credentialNames
      for (const key of [{ Name: name }, { Name: name, AccessLevel: null }]) {
        const listed = yield* trial({
          plan: { requests: [[respond(json([key, { Name: "b", AccessLevel: [] }]))]] },
          call: Effect.flatMap(CredentialsService, ({ apiKeys }) => apiKeys.list())
        })
        const levels = Exit.isSuccess(listed.exit) ? listed.exit.value.map(({ accessLevels }) => accessLevels) : []
        assert.deepStrictEqual<unknown>(levels, [["Untold"], []])
        const updated = yield* trial({
          plan: { requests: [[respond(json(key))]] },
          call: Effect.flatMap(CredentialsService, ({ apiKeys }) => apiKeys.update(name, { expires: null }))
        })
        assert.include(refusedAs(updated, "InvalidInput").message, "accessLevels")
        assert.deepStrictEqual(
          updated.requests.map(({ method }) => method),
          ["GET"]
        )
      }
    })
  )

  it.live("C64 a required field that is missing, or of another type: a typed failure that says where", () =>
    Effect.gen(function* () {
      const lists = [
        [{ Email: "a@example.com" }, { FirstName: "B" }],
        [{ Email: "a@example.com" }, { Email: 5 }],
        [{ Email: "a@example.com" }, { Email: null }]
      ]
      for (const contacts of lists) {
        const { message } = reason(yield* reading(list, json(contacts)), "InvalidResponse")
        assert.match(message, /1/)
        assert.include(message, "Email")
      }
      const key = yield* trial({
        plan: { requests: [[respond({ status: 201, body: '{"Name":"x","AccessLevel":[]}' })]] },
        call: operationCall("securityApikeysPost").call
      })
      assert.include(reason(key, ["InvalidResponse", "OutcomeUnknown"]).message, "Token")
    })
  )

  it.live("C64 no more of a bad answer is quoted than its place", () =>
    Effect.gen(function* () {
      const ended = yield* reading(load, json({ Email: ["person.of.interest@example.com"], FirstName: "Ann" }))
      assert.notInclude(reason(ended, "InvalidResponse").message, "person.of.interest")
      assert.strictEqual(get.id, "contactsByEmailGet")
    })
  )
})
