/**
 * What the client knows of a call, and what it does not: answers that are cut, parts of answers, waits of any length, and
 * doubts that a later answer does not remove.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, CredentialName, CredentialsService, EmailAddress, IpRange } from "@roster/domain"
import { idempotencyHonoured, resubscribeHonoured } from "@roster/api"
import { awaitExport, createWithRetry } from "@roster/workflows"
import { DateTime, Effect, Exit, Redacted, Stream } from "effect"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { clockedTrial } from "./ClockedTrial.ts"
import {
  credentialNames,
  deleteByEmails,
  everyOperation,
  exportId,
  type OperationCall,
  operationCall,
  repeatsAmbiguous
} from "./EveryOperation.ts"
import type { LedgerRequest } from "./server/FaultLedger.ts"
import { bytesOf, finish, readBody, reset, respond, type Script, write } from "./server/FaultScript.ts"
import { keyService } from "./KeyService.ts"
import { transports, trial } from "./FaultTrial.ts"
import type { ScriptedAnswer } from "./server/ScriptedHttpClient.ts"
import { failure, reason, refusedAs, succeeded } from "./Verdict.ts"

const returnsBody = everyOperation.filter((operation) => operation.answer.body !== undefined)
const bodyOf = ({ answer }: OperationCall) => Buffer.from(bytesOf(answer.body ?? ""))

const head = (operation: OperationCall, ...lines: ReadonlyArray<string>) =>
  write([`HTTP/1.1 ${operation.answer.status} OK`, "Content-Type: application/json", ...lines, "", ""].join("\r\n"))

/** A body that ends with its connection, which is all that tells its end. */
const untilClose = (operation: OperationCall, body: Uint8Array, ...lines: ReadonlyArray<string>): Script => [
  readBody(),
  head(operation, "Connection: close", ...lines),
  write(body),
  finish
]

/** A body in chunks that are ended in order, as by a proxy that lost the service behind it. */
const inChunks = (operation: OperationCall, body: Uint8Array, ...lines: ReadonlyArray<string>): Script => [
  readBody(),
  head(operation, "Transfer-Encoding: chunked", "Connection: close", ...lines),
  ...(body.length === 0 ? [] : [write(`${body.length.toString(16)}\r\n`), write(body), write("\r\n")]),
  write("0\r\n\r\n"),
  finish
]

/** A body that breaks off inside a chunk. */
const inChunk = (operation: OperationCall, body: Uint8Array): Script => [
  readBody(),
  head(operation, "Transfer-Encoding: chunked", "Connection: close"),
  write(`${(body.length * 2).toString(16)}\r\n`),
  write(body),
  finish
]

/** The same answer ends early, once: reads and updates are sent again; of the rest nobody knows. */
const cutOnce = Effect.fnUntraced(function* (
  operation: OperationCall,
  script: Script,
  transport: (typeof transports)[number],
  about: string
) {
  const ended = yield* trial({
    // fetch has connections of its own, which go with no layer.
    plan: { requests: [script, [respond({ ...operation.answer, headers: { Connection: "close" } }), finish]] },
    call: operation.call,
    transport: transport[1]
  })
  const where = `${operation.id} over ${transport[0]}, ${about}`
  assert.strictEqual(ended.requests.length, repeatsAmbiguous(operation) ? 2 : 1, where)
  if (repeatsAmbiguous(operation)) succeeded(ended, where)
  else assert.strictEqual(reason(ended, "OutcomeUnknown", where).status, operation.answer.status, where)
})

describe("what the client knows", () => {
  for (const transport of transports) {
    const [name] = transport
    it.live(`C10 over ${name}, a body without a length whose JSON ends early leaves the outcome open`, () =>
      Effect.gen(function* () {
        for (const operation of returnsBody) {
          const body = bodyOf(operation)
          const half = body.subarray(0, Math.ceil(body.length / 2))
          yield* cutOnce(operation, untilClose(operation, half), transport, "half of it")
          yield* cutOnce(operation, untilClose(operation, new Uint8Array(0)), transport, "nothing of it")
          yield* cutOnce(operation, inChunks(operation, half), transport, "half of it in chunks")
          yield* cutOnce(operation, inChunk(operation, half), transport, "half of a chunk")
        }
      })
    )

    it.live(`C10 over ${name}, wherever it ends, inside a letter and an escape too`, () =>
      Effect.gen(function* () {
        const text = JSON.stringify([
          { Email: "a@example.com", FirstName: 'Zo\u00eb "\\', CustomFields: { "]}": "[{" } }
        ])
        const contacts = [{ email: EmailAddress.make("a@example.com") }]
        const addWithoutAnswer = Effect.flatMap(ContactsService, (service) => service.addWithoutAnswer(contacts))
        for (const { call, id, method } of [
          operationCall("contactsGet"),
          operationCall("contactsPost"),
          { ...operationCall("contactsPost"), call: addWithoutAnswer }
        ]) {
          const operation: OperationCall = { id, method, call, answer: { status: 200, body: text } }
          const body = bodyOf(operation)
          for (let length = 0; length < body.length; length++) {
            const script = untilClose(operation, body.subarray(0, length))
            yield* cutOnce(operation, script, transport, `${length} of ${body.length} bytes`)
          }
        }
      })
    )

    it.live(`C11 over ${name}, a compressed body that ends early leaves the outcome open`, () =>
      Effect.gen(function* () {
        for (const operation of returnsBody) {
          const packed = [
            ["gzip", gzipSync(bodyOf(operation))],
            ["br", brotliCompressSync(bodyOf(operation))]
          ] as const
          for (const [encoding, body] of packed) {
            const half = body.subarray(0, Math.ceil(body.length / 2))
            const line = `Content-Encoding: ${encoding}`
            yield* cutOnce(operation, untilClose(operation, half, line), transport, `half of ${encoding}`)
            yield* cutOnce(operation, inChunks(operation, half, line), transport, `half of ${encoding} in chunks`)
          }
        }
      })
    )
  }

  it.live("C10 a complete body that is not JSON is not retried, with or without a length", () =>
    Effect.gen(function* () {
      const operation = operationCall("contactsGet")
      for (const body of ["no JSON", '[{"Email":"a@example.com"}]]', "{}{}", "[1,]"]) {
        const ended = yield* trial({
          plan: { requests: [untilClose(operation, Buffer.from(body))] },
          call: operation.call
        })
        reason(ended, "InvalidResponse", body)
        assert.strictEqual(ended.requests.length, 1, body)
      }
    })
  )

  it.live("C37 a refusal counts by its status although its body breaks off", () =>
    Effect.gen(function* () {
      const broken = (line: string): Script => [
        readBody(),
        write(`HTTP/1.1 ${line}\r\nContent-Length: 100\r\n\r\n{"Er`),
        reset
      ]
      for (const operation of everyOperation) {
        const refused = yield* trial({ plan: { requests: [broken("401 Unauthorized")] }, call: operation.call })
        reason(refused, "Unauthorized", operation.id)
        assert.strictEqual(refused.requests.length, 1, operation.id)
        const throttled = yield* trial({
          plan: { requests: [broken("429 Too Many Requests"), [respond(operation.answer)]] },
          call: operation.call
        })
        succeeded(throttled, operation.id)
      }
    })
  )

  const page = "<!doctype html><html><body>Sign in</body></html>"

  const headers = { [idempotencyHonoured.name]: idempotencyHonoured.value }
  const announced = `${idempotencyHonoured.name}: ${idempotencyHonoured.value}\r\n`

  const unreadable: ReadonlyArray<readonly [string, (answer: string) => Script]> = [
    ["a reset", () => [readBody(), reset]],
    [
      "a cut body",
      (answer) => [
        readBody(),
        write(
          `HTTP/1.1 201 Created\r\n${announced}Content-Type: application/json\r\nConnection: close\r\n\r\n${answer.slice(0, 20)}`
        ),
        finish
      ]
    ],
    ["another shape", () => [respond({ headers, status: 201, body: '{"Name":"reporting"}' })]],
    ["no JSON", () => [respond({ headers, status: 201, body: "created" })]],
    ["no body", () => [respond({ headers, status: 204 })]],
    ["an empty body", () => [respond({ headers, status: 201 })]],
    [
      "a part",
      (answer) => [respond({ status: 206, headers: { ...headers, "Content-Range": "bytes 0-9/99" }, body: answer })]
    ],
    ["no UTF-8", () => [respond({ headers, status: 201, body: Buffer.from([0x22, 0xff, 0x22]) })]],
    [
      "broken compression",
      () => [
        respond({
          status: 201,
          headers: { ...headers, "Content-Encoding": "gzip" },
          body: Buffer.from("not gzip at all")
        })
      ]
    ]
  ]

  const createReporting = Effect.flatMap(CredentialsService, ({ apiKeys }) =>
    createWithRetry(apiKeys, { name: credentialNames.apiKey, accessLevels: ["ViewContacts"] })
  )

  it.live.each(unreadable)(
    "C42 a key whose creation is answered by %s gets a secret by the same call, where its key is honoured",
    ([, spoil]) =>
      Effect.gen(function* () {
        for (const losing of [1, 3]) {
          const service = keyService(true, (creation, answer) => (creation <= losing ? spoil(answer) : undefined))
          const ended = yield* trial({ plan: { requests: service.requests }, call: createReporting })
          succeeded(ended)
          assert.strictEqual(service.deletions(), 0)
          if (Exit.isSuccess(ended.exit)) assert.strictEqual(Redacted.value(ended.exit.value.token), service.token())
        }
      })
  )

  it.live("C42 a page in place of the answer does not say whether the service behind it honours the call's key", () =>
    Effect.gen(function* () {
      const service = keyService(true, () => [
        respond({ status: 200, headers: { "Content-Type": "text/html" }, body: page })
      ])
      reason(yield* trial({ plan: { requests: service.requests }, call: createReporting }), "OutcomeUnknown")
      assert.deepStrictEqual([service.creations(), service.deletions()], [1, 0])
    })
  )

  it.live("C42 a key that cannot be recovered is named, whatever prevents it", () =>
    Effect.gen(function* () {
      const named = (ended: Parameters<typeof reason>[0], about: string) =>
        assert.include(reason(ended, "OutcomeUnknown", about).recovery, `"${credentialNames.apiKey}"`, about)
      for (const isHonoured of [true, false]) {
        // Every answer to a creation is lost.
        const lost = keyService(isHonoured, () => [readBody(), reset])
        named(yield* trial({ plan: { requests: lost.requests }, call: createReporting }), "always lost")
        // After the creation nothing else is answered, in one way or another.
        for (const status of [401, 403, 409, 429, 500, 503]) {
          const service = keyService(isHonoured, () => [readBody(), reset])
          const requests = (request: LedgerRequest): Script =>
            service.token() === undefined ? service.requests(request) : [respond({ status })]
          named(yield* trial({ plan: { requests }, call: createReporting, policy: { attempts: 1 } }), String(status))
          assert.isDefined(service.token())
        }
      }
    })
  )

  const date = "Wed, 01 Jan 2020 00:00:00 GMT"
  const waits: ReadonlyArray<readonly [{ readonly [name: string]: string }, seconds: number]> = [
    [{ "Retry-After": "4294967296" }, 4_294_967_296],
    [{ "Retry-After": "0000120" }, 120],
    [{ "Retry-After": "9".repeat(30) }, Number.MAX_SAFE_INTEGER],
    [{ "Retry-After": "9".repeat(400) }, Number.MAX_SAFE_INTEGER],
    [{ Date: date, "Retry-After": "Wed, 01 Jan 2020 01:00:00 GMT" }, 3600],
    [
      { Date: date, "Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT" },
      (Date.parse("9999-12-31T23:59:59Z") - Date.parse("2020-01-01")) / 1000
    ],
    // Without a date of its own it is read against our clock, which begins at 1970 in a test.
    [{ "Retry-After": "Thu, 01 Jan 1970 02:00:00 GMT" }, 7200]
  ]

  it.effect("C24 a Retry-After of any size is obeyed: the call fails at once and says how long", () =>
    Effect.gen(function* () {
      for (const operation of [...everyOperation, deleteByEmails]) {
        for (const [headers, seconds] of waits) {
          for (const [status, tag] of [
            [429, "RateLimited"],
            [503, "Unavailable"]
          ] as const) {
            const about = `${operation.id}, ${status}, ${JSON.stringify(headers)}`
            const answers = [{ status, headers }, operation.answer]
            const ended = yield* clockedTrial({ call: operation.call, answers })
            assert.strictEqual(reason(ended, tag, about).retryAfter, seconds, about)
            assert.deepStrictEqual([ended.requests.length, ended.took], [1, 0], about)
          }
        }
      }
    })
  )

  it.effect("C24 a wait within the remaining time is kept, and never longer than requested", () =>
    Effect.gen(function* () {
      const { answer, call } = operationCall("contactsByEmailGet")
      const headers = { "Retry-After": "0059" }
      const ended = yield* clockedTrial({ call, random: 0, answers: [{ status: 503, headers }, answer] })
      succeeded(ended)
      assert.isAtLeast(ended.requests[1]?.at ?? 0, 59_000)
      assert.isAtMost(ended.requests[1]?.at ?? Infinity, 60_000)
    })
  )

  it.effect("C24 a write with an unknown outcome ends as such instead of waiting", () =>
    Effect.gen(function* () {
      const headers = { "Retry-After": "86400" }
      for (const operation of [...everyOperation, deleteByEmails]) {
        if (operation.method === "GET") continue
        const ended = yield* clockedTrial({
          call: operation.call,
          answers: [{ status: 500, headers }, operation.answer]
        })
        reason(ended, "OutcomeUnknown", operation.id)
        assert.strictEqual(ended.requests.length, 1, operation.id)
      }
    })
  )

  it.effect("C24 a download obeys it too", () =>
    Effect.gen(function* () {
      const call = Effect.flatMap(ContactsService, (service) =>
        Stream.runDrain(service.download("https://files.example.com/export.csv"))
      )
      for (const [headers, seconds] of waits) {
        for (const [status, tag] of [
          [429, "RateLimited"],
          [503, "Unavailable"]
        ] as const) {
          const ended = yield* clockedTrial({ call, answers: [{ status, headers }] })
          assert.strictEqual(reason(ended, tag).retryAfter, seconds)
          assert.deepStrictEqual([ended.requests.length, ended.took], [1, 0])
        }
      }
      // Where it does not say how long: as long as other calls wait.
      const throttled = yield* clockedTrial({ call, random: 0.5, answers: [{ status: 429 }] })
      reason(throttled, "RateLimited")
      assert.deepStrictEqual(
        throttled.requests.map(({ at }) => Math.round(at / 100) * 100),
        [0, 500, 1500]
      )
    })
  )

  const far = { "Retry-After": "86400" }
  const proveNothing: ReadonlyArray<readonly [string, ScriptedAnswer]> = [
    ["401", { status: 401 }],
    ["400 that says so", { status: 400, body: '{"Error":"APIKey Expired"}' }],
    ["403", { status: 403 }],
    ["409", { status: 409, body: '{"Error":"Conflict"}' }],
    ["429", { status: 429 }],
    ["429 for long", { status: 429, headers: far }],
    ["503 for long", { status: 503, headers: far }],
    ["503 for a while", { status: 503, headers: { "Retry-After": "1" } }],
    ["302", { status: 302, headers: { Location: "https://example.com" } }],
    ["501", { status: 501 }],
    ["a certificate that has expired", { code: "CERT_HAS_EXPIRED" }],
    ["no HTTP", { code: "HPE_INVALID_CONSTANT" }]
  ]

  it.effect.each(proveNothing)("T07 a write that may have been carried out stays so after %s", ([, later]) =>
    Effect.gen(function* () {
      for (const operation of [...everyOperation, deleteByEmails]) {
        if (operation.method === "GET") continue
        if (!repeatsAmbiguous(operation)) continue
        const ended = yield* clockedTrial({ call: operation.call, random: 0, answers: [{ status: 500 }, later] })
        reason(ended, "OutcomeUnknown", operation.id)
      }
      // What is repeated by its key.
      for (const id of ["contactsPost", "contactsExportPost"] as const) {
        const ended = yield* clockedTrial({
          call: operationCall(id).call,
          random: 0,
          policy: { assumeIdempotencyKey: true },
          answers: [{ status: 500 }, later]
        })
        reason(ended, "OutcomeUnknown", id)
      }
    })
  )

  it.effect("T07 a refusal of what the request says proves that it was never carried out", () =>
    Effect.gen(function* () {
      const body = '{"Error":"Invalid FirstName: no"}'
      const update = operationCall("contactsByEmailPut").call
      refusedAs(
        yield* clockedTrial({ call: update, answers: [{ status: 500 }, { status: 400, body }] }),
        "InvalidInput"
      )
      const absent = { status: 404, body: '{"Error":"There is no such contact."}' }
      refusedAs(yield* clockedTrial({ call: update, answers: [{ status: 500 }, absent] }), "ContactNotFound")
      // A read has nothing to be in doubt of.
      const read = operationCall("contactsByEmailGet").call
      reason(yield* clockedTrial({ call: read, answers: [{ status: 500 }, { status: 401 }] }), "Unauthorized")
    })
  )

  it.effect("T07 a page of something between here and the service proves nothing, whatever its status", () =>
    Effect.gen(function* () {
      const page = (status: number): ScriptedAnswer => ({
        status,
        headers: { "Content-Type": "text/html" },
        body: "<html><h1>default backend</h1></html>"
      })
      const gateway = (status: number): ScriptedAnswer => ({ status, body: '{"message":"no Route matched"}' })
      const name = CredentialName.make("other")
      const rename = Effect.flatMap(CredentialsService, ({ apiKeys }) =>
        apiKeys.update(credentialNames.apiKey, { name, accessLevels: ["ViewContacts"] })
      )
      const repeated = [...everyOperation, deleteByEmails].filter(
        (operation) => operation.method === "PUT" || operation.method === "DELETE" || operation === deleteByEmails
      )
      for (const call of [...repeated.map(({ call }) => call), rename]) {
        for (const later of [page(404), page(400), page(422), gateway(404), gateway(400)]) {
          const ended = yield* clockedTrial({ call, random: 0, answers: [{ status: 502 }, later] })
          reason(ended, "OutcomeUnknown", JSON.stringify(later))
        }
      }
      // A list of contacts, and the exports, are there: whoever says that they are not is not the service.
      for (const id of ["contactsPost", "contactsExportPost"] as const) {
        for (const later of [page(404), { status: 404 }]) {
          const policy = { assumeIdempotencyKey: true }
          const answers = [{ status: 502 }, later]
          reason(
            yield* clockedTrial({ call: operationCall(id).call, random: 0, policy, answers }),
            "OutcomeUnknown",
            id
          )
        }
      }
    })
  )

  it.effect("C80 a wait for an export does not look again before the service allows it", () =>
    Effect.gen(function* () {
      const call = awaitExport(exportId)
      const answers = [{ status: 429, headers: { "Retry-After": "3600" } }]
      const ended = yield* clockedTrial({ call, answers })
      refusedAs(ended, "ExportPollingFailed")
      assert.strictEqual(ended.requests.length, 1)
    })
  )

  const renaming = (kind: "apiKeys" | "smtp") =>
    Effect.flatMap(CredentialsService, ({ apiKeys, smtp }) => {
      const limits = {
        expires: DateTime.makeUnsafe("2030-01-02T03:04:05.678Z"),
        ipRanges: [IpRange.make("192.0.2.0/24"), IpRange.make("2001:DB8::/32")]
      }
      const payload = { name: CredentialName.make("new"), accessLevels: ["ViewContacts", "Export"], ...limits } as const
      return kind === "apiKeys"
        ? Effect.asVoid(apiKeys.update(credentialNames.apiKey, payload))
        : Effect.asVoid(
            smtp.update(credentialNames.smtp, {
              name: EmailAddress.make("new@example.com"),
              ...limits
            })
          )
    })

  it.effect(
    "C39 an update of an expiry is sent alone to our service, and whole to one that takes keys only whole",
    () =>
      Effect.gen(function* () {
        const key = {
          Name: "reporting",
          AccessLevel: ["ViewContacts", "Export"],
          RestrictAccessToIPRange: ["192.0.2.7"]
        }
        const body = JSON.stringify({ ...key, Expires: "2030-01-02T03:04:05Z", LastUse: "2029-01-02T03:04:05Z" })
        const call = Effect.flatMap(CredentialsService, ({ apiKeys }) => apiKeys.update("reporting", { expires: null }))
        const ours = { [resubscribeHonoured.name]: resubscribeHonoured.value }
        for (const [headers, sent] of [
          [{}, { ...key, Expires: null }],
          [ours, { Expires: null }]
        ] as const) {
          const ended = yield* clockedTrial({
            call,
            answers: [
              { status: 200, headers, body },
              { status: 200, headers, body }
            ]
          })
          succeeded(ended)
          assert.deepStrictEqual(
            ended.requests.map(({ method }) => method),
            ["GET", "PUT"]
          )
          assert.deepStrictEqual<unknown>(JSON.parse(String(ended.requests[1]?.body)), sent)
        }
        const denied = { status: 403, headers: ours, body: '{"Error":"The access level Security is missing."}' }
        const blind = yield* clockedTrial({ call, answers: [denied, { status: 200, headers: ours, body }] })
        succeeded(blind)
        assert.deepStrictEqual<unknown>(JSON.parse(String(blind.requests[1]?.body)), { Expires: null })
        const unknown = JSON.stringify({ ...key, AccessLevel: ["ViewTomorrow"] })
        const ended = yield* clockedTrial({ call, answers: [{ status: 200, body: unknown }] })
        refusedAs(ended, "InvalidInput")
        assert.strictEqual(ended.requests.length, 1)
      })
  )

  const asSent = {
    Name: "new",
    Expires: "2030-01-02T03:04:05Z",
    RestrictAccessToIPRange: ["2001:db8::/32", "192.0.2.0/24"]
  }
  const others = [
    { ...asSent, Expires: null },
    { ...asSent, Expires: "2030-01-02T03:04:06Z" },
    { ...asSent, RestrictAccessToIPRange: [] },
    { ...asSent, RestrictAccessToIPRange: ["192.0.2.0/24"] },
    { ...asSent, RestrictAccessToIPRange: ["192.0.2.0/24", "2001:db8::/32", "10.0.0.0/8"] }
  ]

  for (const kind of ["apiKeys", "smtp"] as const) {
    const level = kind === "apiKeys" ? { AccessLevel: ["Export", "ViewContacts"] } : { AccessLevel: "SendSmtp" }
    const looked = (look: ScriptedAnswer) =>
      clockedTrial({ call: renaming(kind), random: 0, answers: [{ status: 500 }, { status: 404 }, look] })
    const found = (body: object): ScriptedAnswer => ({ status: 200, body: JSON.stringify(body) })

    it.effect(`C39 a rename of ${kind} whose answer was lost: what was sent stands under the new name`, () =>
      Effect.gen(function* () {
        const ended = yield* looked(found({ ...asSent, ...level }))
        succeeded(ended)
        assert.deepStrictEqual(
          ended.requests.map(({ method }) => method),
          ["PUT", "PUT", "GET"]
        )
      })
    )

    it.effect(
      `C39 a rename of ${kind} whose answer was lost: something else, nothing, or no look leaves it unknown`,
      () =>
        Effect.gen(function* () {
          const looks: ReadonlyArray<ScriptedAnswer> = [
            ...others.map((other) => found({ ...other, ...level })),
            ...(kind === "smtp"
              ? []
              : [
                  found({ ...asSent, AccessLevel: ["Export"] }),
                  found({ ...asSent, AccessLevel: ["Export", "ViewContacts", "Security"] })
                ]),
            { status: 404 },
            { status: 401 },
            { status: 403 },
            { status: 500 },
            { code: "ECONNREFUSED", syscall: "connect" }
          ]
          for (const look of looks) {
            const said = reason(yield* looked(look), "OutcomeUnknown", JSON.stringify(look))
            assert.include(said.recovery, "new", JSON.stringify(look))
          }
        })
    )
  }

  it.live("C09 an unrequested partial response never counts as complete", () =>
    Effect.gen(function* () {
      for (const operation of everyOperation) {
        const { answer, call, id } = operation
        const parts = [
          { ...answer, status: 206 },
          { ...answer, headers: { "Content-Range": "bytes 0-9/99" } },
          { ...answer, status: 206, headers: { "Content-Range": "bytes 0-9/99" } }
        ]
        for (const part of parts) {
          const ended = yield* trial({ plan: { requests: [[respond(part)]] }, call })
          reason(ended, "InvalidResponse", id)
          assert.strictEqual(ended.requests.length, 1, id)
          assert.isNotEmpty(failure(ended).message)
        }
      }
    })
  )
})
