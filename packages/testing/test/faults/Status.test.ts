/**
 * C.2 Status codes, Retry-After, budget.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { idempotencyHonoured, operations } from "@roster/api"
import { ContactsService, CredentialsService, EmailAddress } from "@roster/domain"
import { createWithRetry } from "@roster/workflows"
import { RetryPolicy, RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Duration, Effect, Exit, FileSystem, Layer, Redacted } from "effect"
import { canary } from "./Canary.ts"
import { clockedTrial } from "./ClockedTrial.ts"
import {
  credentialNames,
  deleteByEmails,
  everyOperation,
  type OperationCall,
  operationCall,
  notFoundTag,
  ownOperations,
  repeatsAmbiguous,
  type Services
} from "./EveryOperation.ts"
import { finish, readBody, reset, respond, type Script } from "./server/FaultScript.ts"
import { fastPolicy, observed, trial } from "./FaultTrial.ts"
import { keyService } from "./KeyService.ts"
import { lostAnswers } from "./LostAnswers.ts"
import type { ScriptedAnswer } from "./server/ScriptedHttpClient.ts"
import { reason, refusedAs, succeeded } from "./Verdict.ts"

const get = operationCall("contactsByEmailGet")
const send = operationCall("emailsPost")
const all: ReadonlyArray<OperationCall> = [...everyOperation, ...ownOperations, deleteByEmails]
const name = (operation: OperationCall) => (operation === deleteByEmails ? `${operation.id} by e-mails` : operation.id)
const makesSecret = ({ id }: OperationCall) => id === "securityApikeysPost" || id === "securitySmtpPost"
const error = (text: string) => JSON.stringify({ Error: text })

/** An answer that leaves the outcome open, for all operations. */
const ambiguous = Effect.fnUntraced(function* (fault: ScriptedAnswer) {
  for (const operation of all) {
    const about = `${name(operation)} after ${JSON.stringify(fault)}`
    const ended = yield* clockedTrial({ call: operation.call, answers: [fault, operation.answer] })
    assert.strictEqual(ended.requests.length, repeatsAmbiguous(operation) ? 2 : 1, about)
    if (repeatsAmbiguous(operation)) succeeded(ended, about)
    else reason(ended, "OutcomeUnknown", about)
  }
})

/** An answer that no operation is repeated after. */
const permanent = Effect.fnUntraced(function* (
  fault: ScriptedAnswer,
  judge: (ended: Parameters<typeof reason>[0], operation: OperationCall) => void
) {
  // Without the word that a service knows an operation of our own, its refusal says nothing of that operation.
  for (const operation of all.filter((one) => !ownOperations.includes(one))) {
    const ended = yield* clockedTrial({ call: operation.call, answers: [fault, operation.answer] })
    assert.strictEqual(ended.requests.length, 1, name(operation))
    judge(ended, operation)
  }
})

describe("C.2 Status codes, Retry-After, budget", () => {
  it.effect("C24 429 with Retry-After: 2: all operations are repeated once, two seconds later or more", () =>
    Effect.gen(function* () {
      for (const operation of all) {
        for (const random of [0, 0.999]) {
          const { answer, call } = operation
          const ended = yield* clockedTrial({
            call,
            random,
            answers: [{ status: 429, headers: { "Retry-After": "2" } }, answer]
          })
          succeeded(ended, name(operation))
          assert.strictEqual(ended.requests.length, 2, name(operation))
          assert.isAtLeast(ended.requests[1]?.at ?? 0, 2000, name(operation))
          assert.isAtMost(ended.requests[1]?.at ?? Infinity, 4000, name(operation))
        }
      }
    })
  )

  it.effect("C24 a date is read against the date of the same answer, whatever our own clock says", () =>
    Effect.gen(function* () {
      const headers = { Date: "Wed, 01 Jan 2020 00:00:00 GMT", "Retry-After": "Wed, 01 Jan 2020 00:00:07 GMT" }
      const ended = yield* clockedTrial({
        call: send.call,
        random: 0,
        answers: [{ status: 429, headers }, send.answer]
      })
      succeeded(ended)
      assert.isAtLeast(ended.requests[1]?.at ?? 0, 7000)
      assert.isAtMost(ended.requests[1]?.at ?? Infinity, 8000)
    })
  )

  it.effect("C24 a longer wait than a minute, or than the time that is left, ends the call now and says how long", () =>
    Effect.gen(function* () {
      const waits = [
        ["61", {}],
        ["86400", {}],
        ["30", { totalTimeout: Duration.seconds(20) }]
      ] as const
      for (const operation of [get, send, operationCall("securityApikeysPost")]) {
        for (const [seconds, policy] of waits) {
          const ended = yield* clockedTrial({
            call: operation.call,
            policy,
            answers: [{ status: 429, headers: { "Retry-After": seconds } }, operation.answer]
          })
          assert.strictEqual(reason(ended, "RateLimited").retryAfter, Number(seconds))
          assert.deepStrictEqual([ended.requests.length, ended.took], [1, 0])
        }
      }
    })
  )

  it.effect("C26 429 without Retry-After: full jitter, from one second on", () =>
    Effect.gen(function* () {
      for (const [random, times] of [
        [0, [0, 0, 0]],
        [0.5, [0, 500, 1500]],
        [0.999, [0, 999, 2997]]
      ] as const) {
        const ended = yield* clockedTrial({ call: send.call, random, step: "1 millis", answers: [{ status: 429 }] })
        reason(ended, "RateLimited")
        assert.deepStrictEqual(
          ended.requests.map((request) => Math.round(request.at)),
          [...times]
        )
      }
    })
  )

  it.effect("C26 an ordinary wait: full jitter, from 100 ms on, and never longer than 20 s", () =>
    Effect.gen(function* () {
      const ended = yield* clockedTrial({ call: get.call, random: 0.999, step: "1 millis", answers: [{ status: 500 }] })
      const times = ended.requests.map((request) => request.at)
      assert.deepStrictEqual(times.length, 3)
      assert.approximately(times[1] ?? 0, 100, 1)
      assert.approximately(times[2] ?? 0, 300, 2)
      const policy = { attempts: 12, totalTimeout: Duration.minutes(10) }
      const long = yield* clockedTrial({ call: get.call, random: 0.999, policy, answers: [{ status: 500 }] })
      const waits = long.requests.map((request, i) => request.at - (long.requests[i - 1]?.at ?? 0))
      assert.strictEqual(long.requests.length, 12)
      assert.isAtMost(Math.max(...waits), 20_050)
    })
  )

  it.effect.each([
    "-1",
    "1.5",
    "1e2",
    "",
    "garbage",
    "0",
    "Wed, 01 Jan 2020 00:00:00 GMT",
    "2, 3",
    "0x10",
    "+5",
    "NaN",
    "Infinity",
    "%32"
  ])("C27 Retry-After: %o is not one: the ordinary wait", (value) =>
    Effect.gen(function* () {
      const headers = { Date: "Wed, 01 Jan 2025 00:00:00 GMT", "Retry-After": value }
      const ended = yield* clockedTrial({ call: send.call, random: 0.5, answers: [{ status: 429, headers }] })
      assert.deepStrictEqual(
        ended.requests.map((request) => Math.round(request.at / 100) * 100),
        [0, 500, 1500]
      )
      reason(ended, "RateLimited")
    })
  )

  it.effect("C29 503: with Retry-After nothing was done; without it the outcome is open", () =>
    Effect.gen(function* () {
      for (const operation of all) {
        const { answer, call } = operation
        const ended = yield* clockedTrial({ call, answers: [{ status: 503, headers: { "Retry-After": "1" } }, answer] })
        succeeded(ended, name(operation))
        assert.strictEqual(ended.requests.length, 2)
        assert.isAtLeast(ended.requests[1]?.at ?? 0, 1000)
      }
      yield* ambiguous({ status: 503 })
    })
  )

  const page =
    "<!doctype html><html><head><title>502 Bad Gateway</title><script>alert(1)</script></head><body>\u001b[31mBad \u202egateway</body></html>"

  const html = { "Content-Type": "text/html; charset=utf-8" }

  it.live.each([502, 504])("C30 %d with a page of a proxy leaves the outcome open", (status) =>
    Effect.gen(function* () {
      for (const operation of all) {
        const { answer, call } = operation
        const ended = yield* trial({
          plan: { requests: [[respond({ status, headers: html, body: page })], [respond(answer)]] },
          call
        })
        assert.strictEqual(ended.requests.length, repeatsAmbiguous(operation) ? 2 : 1, name(operation))
        if (repeatsAmbiguous(operation)) succeeded(ended, name(operation))
        else reason(ended, "OutcomeUnknown", name(operation))
      }
    })
  )

  it.live.each([502, 504])(
    "C30 %d with a page of a proxy: the error says what came, in a short and harmless way",
    (status) =>
      Effect.gen(function* () {
        const body = page + " padding".repeat(100_000)
        const ended = yield* trial({ plan: { requests: [[respond({ status, headers: html, body })]] }, call: get.call })
        const said = reason(ended, ["Unavailable", "UnexpectedContentType"])
        const printed = JSON.stringify(said) + said.message
        assert.propertyVal(said, "status", status)
        assert.isBelow(printed.length, 3 * 2048)
        assert.notMatch(printed, /[\u001b\u202e]|alert\(1\)|SyntaxError|JSON\.parse/)
        assert.match(printed, /bad\s+gateway/i)
        assert.include(printed, "text/html")
      })
  )

  it.effect("C30 a text in another encoding does not hide the status", () =>
    Effect.gen(function* () {
      const headers = { "Content-Type": "text/html; charset=iso-8859-1" }
      const body = Buffer.from("<html>vor\u00fcbergehend nicht verf\u00fcgbar</html>", "latin1")
      yield* ambiguous({ status: 503, headers, body })
      const absent = yield* clockedTrial({ call: get.call, answers: [{ status: 404, headers, body }] })
      assert.include(reason(absent, "UnexpectedContentType").snippet, "vor\ufffdbergehend")
      const refused = yield* clockedTrial({ call: get.call, answers: [{ status: 405, headers, body }] })
      assert.include(reason(refused, "Rejected").message, "text/html: vor\ufffdbergehend")
    })
  )

  it.effect("C31 408 and 425: all are repeated but those that make a secret", () =>
    Effect.gen(function* () {
      for (const status of [408, 425]) {
        for (const operation of all) {
          const ended = yield* clockedTrial({ call: operation.call, answers: [{ status }, operation.answer] })
          assert.strictEqual(ended.requests.length, makesSecret(operation) ? 1 : 2, name(operation))
          if (makesSecret(operation)) reason(ended, ["Unavailable", "OutcomeUnknown"], name(operation))
          else succeeded(ended, name(operation))
        }
      }
    })
  )

  it.effect.each([499, 520, 521, 522, 523, 524])("C32 %d leaves the outcome open", (status) => ambiguous({ status }))

  it.effect("C33 500 leaves the outcome open", () => ambiguous({ status: 500, body: error("oops") }))

  it.effect.each([501, 505, 511, 529, 599])(
    "C33 %d, which the interface does not define, leaves the outcome open",
    (status) => ambiguous({ status, body: error("no") })
  )

  const outage = (title: string, fault: ScriptedAnswer, most: number) =>
    it.effect(`C35 ${title}: 1000 calls, no more than the budget of retries, then recovery`, () =>
      Effect.gen(function* () {
        let isDown = true
        const call = Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: 1000 }), () => Effect.exit(get.call), { discard: true })
          isDown = false
          // Successes give back what a retry takes.
          yield* Effect.forEach(Array.from({ length: 100 }), () => get.call, { discard: true })
          isDown = true
          return yield* Effect.exit(get.call)
        })
        const ended = yield* clockedTrial({
          call,
          random: 0,
          answers: () => (isDown ? fault : get.answer)
        })
        succeeded(ended)
        const inOutage = ended.requests.length - 100 - 3
        assert.isAtMost(inOutage, 1000 + most)
        assert.isAtLeast(inOutage, 1000 + most - 1)
      })
    )

  outage("a total outage", { code: "ECONNREFUSED", syscall: "connect" }, 35)
  outage("throttling of everything", { status: 429 }, 100)

  it.effect("C36 409: not repeated, and the name is taken where there is one", () =>
    permanent({ status: 409, body: error("Conflict") }, (ended, { id, method }) => {
      const hasName = id.startsWith("security") || id === "listsPost" || id === "listsByNamePut"
      if (hasName && (method === "POST" || method === "PUT")) refusedAs(ended, "NameTaken", id)
      else assert.strictEqual(reason(ended, "Rejected", id).status, 409)
    })
  )

  it.effect.each([
    [401, error("The key is wrong"), "Unauthorized"],
    [400, error("APIKey Expired"), "Unauthorized"],
    [400, error("Incorrect apikey"), "Unauthorized"],
    [403, error("no"), "AccessDenied"],
    [403, "", "AccessDenied"],
    [400, error("Access Denied."), "AccessDenied"]
  ] as const)("C37 %d %s: not repeated, %s, and no key in it", ([status, body, tag]) =>
    permanent({ status, body: body.replace("wrong", `wrong: ${canary.apiKey}`) }, (ended, { id }) => {
      const said = reason(ended, tag, id)
      // What the operation needs, in words that a caller can go by.
      if (said._tag === "AccessDenied")
        assert.strictEqual<string | undefined>(said.required, operations.get(id)?.requiredAccess)
    })
  )

  it.live("C38 a delete of a missing contact: not found", () =>
    Effect.gen(function* () {
      for (const { call, id } of everyOperation.filter((operation) => operation.method === "DELETE")) {
        const ended = yield* trial({ plan: { requests: [[respond({ status: 404, body: error("not found") })]] }, call })
        refusedAs(ended, notFoundTag(id), id)
        assert.strictEqual(ended.requests.length, 1)
      }
    })
  )

  it.live("C39 a delete whose answer was lost, then not found: it is gone, which is success", () =>
    Effect.gen(function* () {
      const faults: ReadonlyArray<Script> = [
        [readBody(), reset],
        [readBody(), finish],
        [respond({ status: 500 })],
        [respond({ status: 504 })]
      ]
      for (const { call, id } of everyOperation.filter((operation) => operation.method === "DELETE")) {
        for (const fault of faults) {
          const ended = yield* trial({
            plan: { requests: [fault, [respond({ status: 404, body: error("not found") })]] },
            call
          })
          succeeded(ended, id)
          assert.strictEqual(ended.requests.length, 2)
        }
      }
    })
  )

  it.effect("C39 a delete that never reached the service, then not found: not found", () =>
    Effect.gen(function* () {
      for (const fault of [{ code: "ECONNREFUSED", syscall: "connect" }, { status: 429 }]) {
        const ended = yield* clockedTrial({
          call: operationCall("contactsByEmailDelete").call,
          answers: [fault, { status: 404, body: error("not found") }]
        })
        refusedAs(ended, "ContactNotFound")
        assert.strictEqual(ended.requests.length, 2)
      }
    })
  )

  it.live("C41 a credential is made and the answer is lost: one request, and how to find out", () =>
    Effect.gen(function* () {
      for (const operation of all.filter(makesSecret)) {
        const ended = yield* trial({ plan: { requests: [[readBody(), reset]] }, call: operation.call })
        const unknown = reason(ended, "OutcomeUnknown")
        assert.strictEqual(ended.requests.length, 1)
        assert.match(unknown.recovery, /by name.*delete.*create/is)
        // Which one it is about.
        assert.include(
          unknown.message,
          operation.id === "securitySmtpPost" ? credentialNames.smtp : credentialNames.apiKey
        )
      }
    })
  )

  const createReporting = Effect.flatMap(CredentialsService, ({ apiKeys }) =>
    createWithRetry(apiKeys, { name: credentialNames.apiKey, accessLevels: ["ViewContacts"] })
  )

  const losing = (times: number) => (creation: number) => (creation <= times ? [readBody(), reset] : undefined)

  it.live.each([0, 1, 3, 5])(
    "C42 a creation that was lost %d times ends with one key and its secret, where the service honours the call's key",
    (times) =>
      Effect.gen(function* () {
        const service = keyService(true, losing(times))
        const ended = yield* trial({ plan: { requests: service.requests }, call: createReporting })
        succeeded(ended)
        assert.deepStrictEqual([service.creations(), service.deletions()], [times + 1, 0])
        if (Exit.isSuccess(ended.exit)) assert.strictEqual(Redacted.value(ended.exit.value.token), service.token())
      })
  )

  it.live("C41 elsewhere a lost creation is not repeated, and nothing of its name is deleted", () =>
    Effect.gen(function* () {
      const service = keyService(false, losing(1))
      const ended = yield* trial({ plan: { requests: service.requests }, call: createReporting })
      assert.include(reason(ended, "OutcomeUnknown").recovery, `"${credentialNames.apiKey}"`)
      assert.deepStrictEqual([service.creations(), service.deletions()], [1, 0])
    })
  )

  it.effect("C43 every POST has an Idempotency-Key, the same on all attempts, a new one for each call", () =>
    Effect.gen(function* () {
      for (const operation of all) {
        const twice = Effect.andThen(operation.call, operation.call)
        const ended = yield* clockedTrial({
          call: twice,
          random: 0,
          answers: [{ status: 429 }, { status: 429 }, operation.answer, { status: 429 }, operation.answer]
        })
        succeeded(ended, name(operation))
        const keys = ended.requests.map((request) => request.headers["idempotency-key"])
        if (operation.method !== "POST") {
          assert.deepStrictEqual(new Set(keys), new Set([undefined]), name(operation))
          continue
        }
        const [first, , , second] = keys
        assert.match(first ?? "", /^[0-9a-f]{32}$/)
        assert.deepStrictEqual(keys, [first, first, first, second, second], name(operation))
        assert.notStrictEqual(first, second)
      }
    })
  )

  it.effect(
    "C43 once a service has said that it honours the key, adds, exports and creations are repeated; nothing else is",
    () =>
      Effect.gen(function* () {
        const honoured = { [idempotencyHonoured.name]: idempotencyHonoured.value }
        for (const operation of all.filter((operation) => !repeatsAmbiguous(operation))) {
          const isKeyed =
            ["contactsPost", "contactsExportPost", "listsPost"].includes(operation.id) || makesSecret(operation)
          const ended = yield* clockedTrial({
            call: Effect.andThen(get.call, operation.call),
            answers: [{ ...get.answer, headers: honoured }, { status: 500 }, operation.answer]
          })
          assert.strictEqual(ended.requests.length, isKeyed ? 3 : 2, operation.id)
          if (isKeyed) succeeded(ended, operation.id)
          else reason(ended, "OutcomeUnknown", operation.id)
        }
      })
  )

  it.effect("C43 the caller can say so for a service that does not", () =>
    Effect.gen(function* () {
      for (const operation of [operationCall("contactsPost"), operationCall("contactsExportPost")]) {
        const ended = yield* clockedTrial({
          call: operation.call,
          policy: { assumeIdempotencyKey: true },
          answers: [{ status: 500 }, operation.answer]
        })
        succeeded(ended)
        assert.strictEqual(ended.requests.length, 2)
      }
    })
  )

  /** A client of an embedded service of its own, which does not hear some of the answers. */
  const embedded = Effect.fnUntraced(function* <A, E>(
    call: Effect.Effect<A, E, Services>,
    isLost: Parameters<typeof lostAnswers>[0]
  ) {
    const fileSystem = yield* FileSystem.FileSystem
    const filename = `${yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-fault-" })}/roster.db`
    const proxy = lostAnswers(isLost)
    const layer = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
      Layer.provide(proxy.layer),
      Layer.provide(EmbeddedHttpClient.layer({ filename, allowedSenders: ["*@example.com"] }))
    )
    const policy = yield* fastPolicy
    const { exit } = yield* observed(
      call.pipe(Effect.provide(layer, { local: true }), Effect.provideService(RetryPolicy, policy))
    )
    return { exit, answered: proxy.answered }
  })

  it.live(
    "C43 the embedded service: an export whose answer was lost is made once, and is the one that the caller is told of",
    () =>
      Effect.gen(function* () {
        const call = Effect.flatMap(ContactsService, (contacts) => Effect.andThen(contacts.list(), contacts.export()))
        const { answered, exit } = yield* embedded(call, (request, number) => request.method === "POST" && number < 2)
        succeeded({ exit })
        const posts = answered.filter((request) => request.method === "POST")
        assert.deepStrictEqual(
          posts.map((request) => [request.status, request.isLost]),
          [
            [202, true],
            [202, true],
            [202, false]
          ]
        )
        assert.strictEqual(new Set(posts.map((request) => request.headers["idempotency-key"])).size, 1)
        // One effect: each attempt was answered with the same export, by a link of its own.
        const { id, link } = Exit.isSuccess(exit) ? exit.value : assert.fail("the export failed")
        for (const { answer } of posts) assert.include(answer, id)
        assert.include(posts.at(-1)?.answer ?? "", link)
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    "C43 the embedded service: contacts whose answer was lost are added once, and every call has a key of its own",
    () =>
      Effect.gen(function* () {
        const add = (email: string) =>
          Effect.flatMap(ContactsService, (contacts) => contacts.add([{ email: EmailAddress.make(email) }]))
        const call = Effect.flatMap(ContactsService, (contacts) => contacts.list()).pipe(
          Effect.andThen(add("a@example.com")),
          Effect.andThen(add("b@example.com")),
          Effect.andThen(Effect.flatMap(ContactsService, (contacts) => contacts.list()))
        )
        const { answered, exit } = yield* embedded(
          call,
          (request, number) => request.method === "POST" && number % 2 === 0
        )
        succeeded({ exit })
        if (Exit.isSuccess(exit))
          assert.deepStrictEqual(
            exit.value.map((contact) => contact.email),
            ["a@example.com", "b@example.com"]
          )
        const keys = answered
          .filter((request) => request.method === "POST")
          .map((request) => request.headers["idempotency-key"])
        assert.strictEqual(keys.length, 4)
        assert.deepStrictEqual([keys[0] === keys[1], keys[1] === keys[2], keys[2] === keys[3]], [true, false, true])
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("C42 the embedded service: a key whose answer was lost is recovered to exactly one, with its secret", () =>
    Effect.gen(function* () {
      const call = Effect.flatMap(CredentialsService, ({ apiKeys }) =>
        Effect.zip(
          createWithRetry(apiKeys, { name: credentialNames.apiKey, accessLevels: ["ViewContacts"] }),
          apiKeys.list()
        )
      )
      const { answered, exit } = yield* embedded(call, (request, number) => request.method === "POST" && number < 2)
      succeeded({ exit })
      if (Exit.isFailure(exit)) return
      const [made, keys] = exit.value
      assert.deepStrictEqual(
        keys.map((key) => key.name).filter((name) => name === credentialNames.apiKey),
        [credentialNames.apiKey]
      )
      const last = answered.findLast((request) => request.method === "POST")
      assert.include(last?.answer ?? "", Redacted.value(made.token))
      assert.isFalse(last?.isLost)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("C44 bulk delete, the answer lost: by e-mails it is repeated, by rule it is not", () =>
    Effect.gen(function* () {
      for (const fault of [[readBody(), reset], [respond({ status: 502 })]]) {
        const byEmails = yield* trial({
          plan: { requests: [fault, [respond({ status: 200 })]] },
          call: deleteByEmails.call
        })
        succeeded(byEmails)
        assert.strictEqual(byEmails.requests.length, 2)
        const byRule = yield* trial({
          plan: { requests: [fault, [respond({ status: 200 })]] },
          call: operationCall("contactsDeletePost").call
        })
        reason(byRule, "OutcomeUnknown")
        assert.strictEqual(byRule.requests.length, 1)
      }
    })
  )

  it.live.each([304, 300, 301, 302, 303, 305, 306, 307, 308, 399])(
    "C46 %d without being asked for, and without a Location",
    (status) =>
      Effect.gen(function* () {
        for (const { call, id } of [get, send]) {
          const ended = yield* trial({ plan: { requests: [[respond({ status })]] }, call })
          reason(ended, ["UnexpectedRedirect", "InvalidResponse"], id)
          assert.strictEqual(ended.requests.length, 1)
        }
      })
  )
})
