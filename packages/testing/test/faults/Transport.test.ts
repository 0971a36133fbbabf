/**
 * C.1 Transport faults.
 */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, ImportSource } from "@roster/domain"
import { Duration, Effect, Layer, Stream } from "effect"
import { HttpClient } from "effect/http"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { blackhole } from "./server/Blackhole.ts"
import { canaryKey } from "./Canary.ts"
import { clockedTrial } from "./ClockedTrial.ts"
import {
  deleteByEmails,
  everyOperation,
  importFile,
  type OperationCall,
  operationCall,
  ownOperations,
  repeatsAmbiguous
} from "./EveryOperation.ts"
import { bodyText, type LedgerRequest } from "./server/FaultLedger.ts"
import { faultResolver, type LookUp, reachable, refusing } from "./server/FaultResolver.ts"
import {
  type Answer,
  answerBytes,
  drip,
  finish,
  readBody,
  reset,
  respond,
  type Script,
  stall,
  write
} from "./server/FaultScript.ts"
import type { FaultServer } from "./server/FaultServer.ts"
import { transports, trial } from "./FaultTrial.ts"
import { type TestCertificate, testCertificate, trusted } from "./server/TestCertificate.ts"
import { failure, reason, refusedAs, succeeded } from "./Verdict.ts"

const get = operationCall("contactsByEmailGet")
const send = operationCall("emailsPost")
const all: ReadonlyArray<OperationCall> = [...everyOperation, ...ownOperations, deleteByEmails]
const name = (operation: OperationCall) => (operation === deleteByEmails ? `${operation.id} by e-mails` : operation.id)

const host = "flaky.localhost"
const atHost =
  (scheme = "http") =>
  ({ port }: FaultServer) => ({ baseUrl: `${scheme}://${host}:${port}/v4` })
const overTls = ({ port }: FaultServer) => ({ baseUrl: `https://127.0.0.1:${port}/v4` })
const day = 86_400_000
const dates = { from: new Date(Date.now() - day), until: new Date(Date.now() + day) }

/** Lets a transport take a connection back: undici gives one that was just used to nothing but a GET. */
const idle = Effect.promise(() => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve))))

/** The bytes of an answer with a body, without the last of them. */
const cutAnswer = ({ body = '{"padding":"padding"}', ...rest }: Answer) => {
  const whole = answerBytes({ ...rest, body })
  return whole.subarray(0, whole.length - Math.ceil(body.length / 2))
}

/** A fault whose outcome is open, once and then not again, or for as long as the client asks. */
const lost = Effect.fnUntraced(function* (
  operation: OperationCall,
  fault: Script,
  policy: { readonly attemptTimeout?: Duration.Duration } = {}
) {
  const { answer, call } = operation
  const about = name(operation)
  const once = yield* trial({ plan: { requests: [fault, [respond(answer)]] }, call, policy })
  assert.strictEqual(once.requests[0]?.complete, true, about)
  if (repeatsAmbiguous(operation)) {
    succeeded(once, about)
    assert.strictEqual(once.requests.length, 2, about)
    return undefined
  }
  assert.strictEqual(once.requests.length, 1, about)
  return { about, unknown: reason(once, "OutcomeUnknown", about) }
})

describe("C.1 Transport faults", () => {
  const resolved = (title: string, answers: ReadonlyArray<LookUp>) =>
    it.live(title, () =>
      Effect.gen(function* () {
        for (const operation of all) {
          const { answer, call } = operation
          yield* Effect.scoped(
            Effect.gen(function* () {
              const resolver = yield* faultResolver(host, answers)
              const ended = yield* trial({ plan: { requests: [[respond(answer)]] }, call, client: atHost() })
              succeeded(ended, name(operation))
              assert.deepStrictEqual([resolver.count(), ended.requests.length], [answers.length, 1], name(operation))
            })
          )
        }
      })
    )

  resolved("C01 connecting is refused twice: all operations succeed with the third attempt", [
    refusing,
    refusing,
    reachable
  ])
  resolved("C02 a name is not found: all operations succeed with the second attempt", [
    { code: "ENOTFOUND" },
    reachable
  ])
  resolved("C02 a name cannot be looked up for now: all operations succeed with the second attempt", [
    { code: "EAI_AGAIN" },
    reachable
  ])

  it.live("C01 connecting is refused for good: three attempts, a typed failure and no effect", () =>
    Effect.gen(function* () {
      const resolver = yield* faultResolver(host, [refusing])
      const ended = yield* trial({ plan: {}, call: send.call, client: atHost() })
      reason(ended, "Unavailable")
      assert.deepStrictEqual([resolver.count(), ended.requests.length], [3, 0])
    })
  )

  it.live("C03 reset while TLS is being set up: all operations are repeated", () =>
    Effect.gen(function* () {
      const certificate = testCertificate({ host: "127.0.0.1", ...dates })
      yield* trusted(certificate)
      for (const operation of all) {
        const { answer, call } = operation
        const ended = yield* trial({
          plan: { tls: certificate, connections: [[reset], [reset]], requests: [[respond(answer)]] },
          call
        })
        succeeded(ended, name(operation))
        assert.deepStrictEqual([ended.connections.length, ended.requests.length], [3, 1], name(operation))
      }
    })
  )

  it.effect("C03 a reset while connecting is distinguished from one while reading", () =>
    Effect.gen(function* () {
      const connecting = yield* clockedTrial({
        call: send.call,
        answers: [{ code: "ECONNRESET", syscall: "connect" }, send.answer]
      })
      succeeded(connecting)
      assert.strictEqual(connecting.requests.length, 2)
      const reading = yield* clockedTrial({
        call: send.call,
        answers: [{ code: "ECONNRESET", syscall: "read" }, send.answer]
      })
      reason(reading, "OutcomeUnknown")
      assert.strictEqual(reading.requests.length, 1)
    })
  )

  const atPort = (port: number) => () => ({ baseUrl: `http://127.0.0.1:${port}/v4` })

  it.live(
    "C04 nobody answers while connecting: given up after the connect timeout, and tried again, as nothing was sent",
    () =>
      Effect.gen(function* () {
        const port = yield* blackhole
        for (const { call } of [get, send]) {
          const ended = yield* trial({
            plan: {},
            call,
            client: atPort(port),
            transport: UndiciHttpClient.layer({ connectTimeout: "300 millis" })
          })
          reason(ended, "Unavailable")
          assert.isAtLeast(ended.elapsed, 850)
        }
      }),
    20_000
  )

  it.live(
    "C04 the connect timeout is five seconds unless it is set",
    () =>
      Effect.gen(function* () {
        const port = yield* blackhole
        const ended = yield* trial({
          plan: {},
          call: send.call,
          client: atPort(port),
          policy: { attempts: 1, attemptTimeout: Duration.seconds(30) }
        })
        reason(ended, "Unavailable")
        assert.isAtLeast(ended.elapsed, 4900)
      }),
    20_000
  )

  it.live(
    "C04 the deadline of the call comes first: still nothing was sent, so nothing is unknown",
    () =>
      Effect.gen(function* () {
        const port = yield* blackhole
        const ended = yield* trial({
          plan: {},
          call: send.call,
          client: atPort(port),
          // Nothing else would end it within the time of this test.
          policy: { totalTimeout: Duration.millis(300), attemptTimeout: Duration.hours(1) },
          transport: UndiciHttpClient.layer({ connectTimeout: "1 hour" })
        })
        reason(ended, ["Unavailable", "TimedOut"])
      }),
    20_000
  )

  it.live("C05 reset after the whole request was read: repeated or an unknown outcome, as the table says", () =>
    Effect.gen(function* () {
      for (const operation of all) yield* lost(operation, [readBody(), reset])
    })
  )

  it.live("C05 every answer is lost: no write is reported as failed, since it may have happened", () =>
    Effect.gen(function* () {
      for (const { call, id, method } of all) {
        const ended = yield* trial({ plan: { requests: [[readBody(), reset]] }, call })
        const isRead = method === "GET" || ["contactsLookupPost", "contactsSearchPost"].includes(id)
        reason(ended, isRead ? "Unavailable" : "OutcomeUnknown", id)
        assert.isAtMost(ended.requests.length, 3)
      }
    })
  )

  it.live(
    "C06 a connection that was kept is closed as the next request is written: as C05, and no repeat by the transport",
    () =>
      Effect.gen(function* () {
        // The first calls are answered without the word of a service that knows operations of our own.
        for (const operation of all.filter((one) => !ownOperations.includes(one))) {
          const { answer, call } = operation
          const about = name(operation)
          const used = new Set<number>()
          let closed = 0
          // The first calls leave a connection or two behind, and the operation comes over one of them.
          const requests = ({ connection, number }: LedgerRequest): Script => {
            const isKept = used.has(connection)
            used.add(connection)
            if (number < 3) return [respond(get.answer)]
            if (!isKept || closed > 0) return [respond(answer)]
            closed++
            return [readBody(), finish]
          }
          const ended = yield* trial({
            plan: { requests },
            call: Effect.andThen(Effect.repeat(Effect.andThen(get.call, idle), { times: 2 }), call)
          })
          assert.strictEqual(closed, 1, about)
          if (repeatsAmbiguous(operation)) succeeded(ended, about)
          else reason(ended, "OutcomeUnknown", about)
          assert.strictEqual(ended.requests.length, repeatsAmbiguous(operation) ? 5 : 4, about)
        }
      })
  )

  it.live("C06 a connection that was closed while idle is not used again", () =>
    Effect.gen(function* () {
      const ended = yield* trial({
        plan: { requests: [[respond(get.answer), finish], [respond(send.answer)]] },
        call: (server) =>
          get.call.pipe(
            Effect.andThen(server.ledger.until((ledger) => ledger.connections()[0]?.closedAt !== undefined)),
            Effect.andThen(send.call)
          )
      })
      succeeded(ended)
      assert.strictEqual(ended.requests.length, 2)
    })
  )

  it.live("C06 an idle connection is closed before the time that the server's Keep-Alive hint gives", () =>
    Effect.gen(function* () {
      const answer = { ...get.answer, headers: { "Keep-Alive": "timeout=3", Connection: "keep-alive" } }
      const ended = yield* trial({
        plan: { requests: [[respond(answer)]] },
        call: (server) =>
          Effect.andThen(
            get.call,
            server.ledger.until((ledger) => ledger.connections()[0]?.closedAt !== undefined, "3 seconds")
          )
      })
      succeeded(ended)
      assert.strictEqual(ended.connections[0]?.closedBy, "client")
      assert.isBelow((ended.connections[0]?.closedAt ?? Infinity) - (ended.connections[0]?.openedAt ?? 0), 2900)
    })
  )

  /** A file of 4 MB in pieces, read again by each attempt or only once. */
  const upload = (replayable: boolean) => {
    let reads = 0
    const chunk = new TextEncoder().encode("someone@example.com\r\n".repeat(1000))
    const content = Stream.suspend(() => {
      reads++
      return replayable || reads === 1 ? Stream.fromIterable(Array.from({ length: 200 }, () => chunk)) : Stream.empty
    })
    const call = Effect.flatMap(ContactsService, (service) =>
      service.import(ImportSource.File({ name: "big.csv", content, replayable }))
    )
    return { call, reads: () => reads, bytes: 200 * chunk.length }
  }

  it.live.each([true, false])(
    "C07 reset in the middle of an upload is not repeated; the file can be read again: %s",
    (replayable) =>
      Effect.gen(function* () {
        const { call } = upload(replayable)
        const ended = yield* trial({
          plan: { requests: [[readBody(1_000_000), reset], [respond({ status: 202 })]] },
          call
        })
        reason(ended, "OutcomeUnknown")
        assert.deepStrictEqual(
          ended.requests.map((request) => request.complete),
          [false]
        )
      })
  )

  it.live(
    "C07 an upload that the service did nothing with is sent again, whole, where the file can be read again",
    () =>
      Effect.gen(function* () {
        const { bytes, call } = upload(true)
        const ended = yield* trial({
          plan: { requests: [[respond({ status: 429 })], [respond({ status: 202 })]] },
          call
        })
        succeeded(ended)
        assert.strictEqual(ended.requests.length, 2)
        for (const request of ended.requests) {
          assert.isTrue(request.complete)
          assert.isAbove(request.bodyBytes, bytes)
        }
      })
  )

  it.live("C07 a stream that was read once is never sent again", () =>
    Effect.gen(function* () {
      for (const status of [429, 503, 408]) {
        const { call, reads } = upload(false)
        const ended = yield* trial({
          plan: { requests: [[respond({ status, headers: { "Retry-After": "1" } })], [respond({ status: 202 })]] },
          call
        })
        failure(ended)
        assert.deepStrictEqual([ended.requests.length, reads()], [1, 1])
      }
    })
  )

  it.live("C07 a stream that was not begun is sent after connecting was refused", () =>
    Effect.gen(function* () {
      yield* faultResolver(host, [refusing, reachable])
      const { bytes, call, reads } = upload(false)
      const ended = yield* trial({ plan: { requests: [[respond({ status: 202 })]] }, call, client: atHost() })
      succeeded(ended)
      assert.strictEqual(reads(), 1)
      assert.isAbove(ended.requests[0]?.bodyBytes ?? 0, bytes)
    })
  )

  const cut = (title: string, script: (answer: Answer) => Script) => {
    it.live(`${title}: repeated or an unknown outcome, as the table says`, () =>
      Effect.forEach(all, (operation) => lost(operation, script(operation.answer)), { discard: true })
    )
    it.live(`${title}: an unknown outcome says what the status was`, () =>
      Effect.gen(function* () {
        for (const operation of all) {
          const ended = yield* lost(operation, script(operation.answer))
          if (ended !== undefined) assert.propertyVal(ended.unknown, "status", operation.answer.status, ended.about)
        }
      })
    )
  }

  cut("C09 reset in the middle of the body of a success", (answer) => [readBody(), write(cutAnswer(answer)), reset])
  cut("C10 a body that is shorter than its length", (answer) => [readBody(), write(cutAnswer(answer)), finish])
  cut("C11 a body in chunks without the last one", ({ body = "{}", ...rest }) => [
    readBody(),
    write(
      answerBytes({
        ...rest,
        body: `5\r\n${body.slice(0, 5).toString().padEnd(5)}\r\n`,
        headers: { "Transfer-Encoding": "chunked" }
      })
    ),
    finish
  ])

  const short = { attemptTimeout: Duration.millis(250) }
  const slow = (title: string, script: (operation: OperationCall) => Script) => {
    const timed = Effect.fnUntraced(function* (operation: OperationCall, tag: "TimedOut" | "OutcomeUnknown") {
      const ended = yield* trial({ plan: { requests: [script(operation)] }, call: operation.call, policy: short })
      reason(ended, tag, operation.id)
      assert.strictEqual(ended.requests.length, repeatsAmbiguous(operation) ? 3 : 1, operation.id)
      // What comes would take 20 s or never end; a busy machine may take a while too.
      assert.isAtMost(ended.elapsed, ended.requests.length * 250 * 1.1 + 3000, operation.id)
    })
    it.live(`${title}: reads`, () =>
      Effect.all([timed(get, "TimedOut"), timed(operationCall("securitySmtpGet"), "TimedOut")], { discard: true })
    )
    it.live(`${title}: writes that are not repeated`, () =>
      Effect.all([timed(send, "OutcomeUnknown"), timed(operationCall("contactsPost"), "OutcomeUnknown")], {
        discard: true
      })
    )
    it.live(`${title}: writes that are repeated may still have happened`, () =>
      timed(operationCall("contactsByEmailPut"), "OutcomeUnknown")
    )
  }

  slow("C13 a body that drips a byte at a time: the timeout of an attempt covers it", ({ answer }) => [
    readBody(),
    write(answerBytes({ status: answer.status, headers: { "Content-Length": "1000" } })),
    drip("x".repeat(1000), "20 millis")
  ])
  slow("C14 a head that never comes: the timeout of an attempt", () => [readBody(), stall])

  it.effect("C14 an attempt is given 30 s and a call 120 s", () =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({ call: get.call, answers: ["silence"] })
      assert.strictEqual(reason(ended, "TimedOut").after, 30)
      assert.deepStrictEqual(
        ended.requests.map((request) => Math.round(request.at / 1000)),
        [0, 30, 60]
      )
      assert.isAtMost(ended.took, 91_000)
      const long = yield* clockedTrial({
        call: get.call,
        answers: ["silence"],
        policy: { attemptTimeout: Duration.seconds(100) }
      })
      reason(long, "TimedOut")
      assert.isAtMost(long.took, 120_000 * 1.01)
    })
  )

  it.live("C15 1 KB/s and a long list: a timeout that says how much came, and no part of the list", () =>
    Effect.gen(function* () {
      const list = JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ Email: `c${i}@example.com` })))
      const ended = yield* trial({
        plan: {
          requests: [
            [
              readBody(),
              write(
                answerBytes({
                  status: 200,
                  headers: { "Content-Length": `${list.length}`, "Content-Type": "application/json" }
                })
              ),
              drip(list, "100 millis", 100)
            ]
          ]
        },
        call: operationCall("contactsGet").call,
        policy: { attemptTimeout: Duration.millis(650), attempts: 1 }
      })
      const timedOut = reason(ended, "TimedOut")
      assert.property(timedOut, "receivedBytes")
    })
  )

  it.live.each(transports)("C17 five interim responses are ignored over %s", ([, transport]) =>
    Effect.gen(function* () {
      const interim = [102, 103, 103, 102, 103]
        .map((status) => `HTTP/1.1 ${status} Interim\r\nLink: </x>\r\n\r\n`)
        .join("")
      for (const { answer, call, id } of [get, send]) {
        const last = respond({ ...answer, headers: { ...answer.headers, Connection: "close" } })
        const plan = { requests: [[readBody(), write(interim), last]] }
        const ended = yield* trial({ plan, call, transport })
        succeeded(ended, id)
        assert.strictEqual(ended.requests.length, 1)
      }
    })
  )

  it.live.each(transports)(
    "C17 an unrequested 100 is a head that cannot be read over %s: repeated where safe, never a plain failure of a write",
    ([, transport]) =>
      Effect.gen(function* () {
        for (const { answer, call, id } of [get, send]) {
          const ended = yield* trial({
            plan: { requests: [[readBody(), write("HTTP/1.1 100 Continue\r\n\r\n"), respond(answer)]] },
            call,
            transport
          })
          reason(ended, call === send.call ? "OutcomeUnknown" : "Unavailable", id)
          assert.strictEqual(ended.requests.length, call === send.call ? 1 : 3, id)
        }
      })
  )

  it.live.each([
    ["C18 another protocol", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["C18 HTTP/0.9", "<html>hello</html>\r\n"],
    ["C18 status 999", "HTTP/1.1 999 Denied\r\nContent-Length: 0\r\n\r\n"],
    ["C18 noise", "\u0000\u0001\u0002\r\n\r\n"],
    ["C20 a header of 100 KB", answerBytes({ ...get.answer, headers: { "X-Long": "x".repeat(100 * 1024) } })]
  ] as const)(
    "%s is a head that cannot be read: repeated where safe, and never a plain failure of a write",
    ([, bytes]) =>
      Effect.gen(function* () {
        for (const { call, id } of [get, send]) {
          const ended = yield* trial({ plan: { requests: [[readBody(), write(bytes), finish]] }, call })
          reason(ended, call === send.call ? "OutcomeUnknown" : "Unavailable", id)
          assert.strictEqual(ended.requests.length, call === send.call ? 1 : 3, id)
        }
      })
  )

  const patient = { attemptTimeout: Duration.seconds(60), totalTimeout: Duration.seconds(120) }
  const certificates = [
    ["signed by itself", { host: "127.0.0.1", ...dates }, false],
    ["expired", { host: "127.0.0.1", from: new Date(Date.now() - 2 * day), until: new Date(Date.now() - day) }, true],
    ["of another host", { host: "evil.example", ...dates }, true]
  ] as const

  /** Makes such a certificate, which the process trusts as far as it is to be. */
  const presented = Effect.fnUntraced(function* ([, options, isTrusted]: (typeof certificates)[number]) {
    const certificate = testCertificate(options)
    // Once in a test: Node reads all its authorities anew each time, which takes as long as many connections.
    if (isTrusted) yield* trusted(certificate)
    return certificate
  })

  /** The message that a call fails with by a certificate. No time may run out before it does. */
  const distrusted = Effect.fnUntraced(function* (certificate: TestCertificate, { answer, call }: OperationCall) {
    const ended = yield* trial({ plan: { tls: certificate, requests: [[respond(answer)]] }, call, policy: patient })
    assert.deepStrictEqual([ended.connections.length, ended.requests.length], [1, 0])
    return reason(ended, "Unavailable").message
  }, Effect.scoped)

  it.live.each(certificates)("C21 a certificate that is %s: one attempt", (kind) =>
    Effect.gen(function* () {
      const certificate = yield* presented(kind)
      for (const operation of all) yield* distrusted(certificate, operation)
    })
  )

  it.live.each(certificates)("C21 a certificate that is %s: the message names the host and no more", (kind) =>
    Effect.gen(function* () {
      const message = yield* distrusted(yield* presented(kind), get)
      assert.include(message, "127.0.0.1")
      assert.notInclude(message, "/v4")
    })
  )

  it.live("C22 plain HTTP on a port of https: one attempt", () =>
    Effect.gen(function* () {
      for (const { call } of [get, send]) {
        const plan = {
          connections: [
            [write(answerBytes({ status: 400 })), finish],
            [write(answerBytes({ status: 400 })), finish]
          ]
        }
        const ended = yield* trial({ plan, call, client: overTls })
        reason(ended, ["Unavailable", "InvalidResponse"])
        assert.strictEqual(ended.connections.length, 1)
      }
    })
  )

  it.live("C23 plain http to another machine is refused before anything is sent, unless it is allowed", () =>
    Effect.gen(function* () {
      const baseUrl = "http://roster.example/v4"
      for (const url of [
        baseUrl,
        "http://127.0.0.1.example/v4",
        "http://10.0.0.1/v4",
        "http://[fd00::1]/v4",
        "http://localhost.evil.example/v4"
      ]) {
        const ended = yield* trial({ plan: {}, call: get.call, client: () => ({ baseUrl: url }) })
        refusedAs(ended, "InvalidSettings", url)
      }
      const never = HttpClient.make(() => Effect.never)
      const allowed = yield* RosterClient.layer({ baseUrl, apiKey: canaryKey, allowInsecure: true }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, never)),
        Layer.build,
        Effect.exit
      )
      assert.strictEqual(allowed._tag, "Success")
    })
  )

  it.live("C01 the body of an import is sent completely and once", () =>
    Effect.gen(function* () {
      const ended = yield* trial({
        plan: { requests: [[respond({ status: 202 })]] },
        call: operationCall("contactsImportPost").call
      })
      assert.include(ended.requests.map(bodyText).join(), importFile)
    })
  )
})
