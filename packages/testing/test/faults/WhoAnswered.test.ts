/**
 * Who answered, and whether it settles what was sent: refusals that the service did not write, and answers to a write that
 * say nothing of it. (docs/decisions/retries.md)
 */
import { assert, describe, it } from "@effect/vitest"
import { announcements } from "@roster/api"
import { ContactsService, CredentialsService, EmailAddress } from "@roster/domain"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { RosterClient } from "@roster/http-client"
import { createWithRetry, rotateSmtp } from "@roster/workflows"
import { Arbitrary, Effect, Exit, Layer, Schema, Scope } from "effect"
import { canary, canaryKey } from "./Canary.ts"
import { clockedTrial } from "./ClockedTrial.ts"
import {
  credentialNames,
  deleteByEmails,
  everyOperation,
  exportId,
  notFoundTag,
  type OperationCall,
  operationCall,
  ownOperations,
  repeatsAmbiguous
} from "./EveryOperation.ts"
import type { LedgerRequest } from "./server/FaultLedger.ts"
import { faultServer } from "./server/FaultServer.ts"
import { type Answer, finish, readBody, reset, respond, type Script, write } from "./server/FaultScript.ts"
import { transports, trial } from "./FaultTrial.ts"
import { failure, reason, refusedAs, succeeded } from "./Verdict.ts"

const oneOf = <const A extends string | number>(values: ReadonlyArray<A>) => Arbitrary.schema(Schema.Literals(values))

// A refusal of ours is `{"Error": "text"}`; the words of our refusals mean nothing in any other form.
const words = oneOf([
  "404 page not found",
  "default backend - 404",
  "no Route matched with those values",
  "There is no contact canary.person@example.com.",
  'There is no credential "reporting".',
  "Access Denied.",
  "APIKey Expired",
  'The name "reporting" is taken.'
])

const forms: ReadonlyArray<(words: string) => Answer["body"] & string> = [
  (words) => `<!doctype html><html><head><title>${words}</title></head><body><h1>${words}</h1></body></html>`,
  (words) => words,
  (words) => `${words}\n`,
  (words) => JSON.stringify({ message: words }),
  (words) => JSON.stringify({ error: words }),
  (words) => JSON.stringify({ Error: { Code: "NoSuchKey", Message: words } }),
  (words) => JSON.stringify({ type: "about:blank", title: words, status: 404 }),
  (words) => JSON.stringify([{ Error: words }]),
  (words) => JSON.stringify(words),
  (words) => `<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>${words}</Message></Error>`
]

const types = [
  "text/html; charset=utf-8",
  "text/plain",
  "application/json",
  "application/problem+json",
  "application/xml"
]

/** An answer that something between here and the service may give. */
const foreign = Arbitrary.map(
  Arbitrary.all([words, oneOf(forms.map((_, index) => index)), oneOf(types)]),
  ([words, form, type]): Omit<Answer, "status"> & { readonly words: string; readonly type: string } => ({
    words,
    type,
    headers: { "Content-Type": type, Server: "ingress" },
    body: forms[form]?.(words) ?? words
  })
)

const all: ReadonlyArray<OperationCall> = [...everyOperation, deleteByEmails]
const anyOperation = Arbitrary.map(oneOf(all.map((_, index) => index)), (index) => all[index] ?? deleteByEmails)
const writes = all.filter(({ method }) => method !== "GET")
const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) })

describe("who answered", () => {
  it.live.prop(
    "D01 a 401, 403, 404 or 409 in another form than the service's is none of its refusals",
    [oneOf([401, 403, 404, 409]), foreign, anyOperation],
    ([status, { body, headers, type, words }, { call, id }]) =>
      Effect.gen(function* () {
        for (const [name, transport] of transports) {
          const plan = { requests: [[respond({ status, headers: { ...headers, Connection: "close" }, body }), finish]] }
          const ended = yield* trial({ plan, call, transport })
          const said = reason(ended, "UnexpectedContentType", `${id} over ${name}`)
          assert.deepStrictEqual([said.status, said.contentType], [status, type])
          assert.include(said.snippet.replaceAll("\\", ""), words)
          assert.match(said.message, /something between here and the service may have answered/)
          assert.strictEqual(ended.requests.length, 1)
        }
      }),
    { arbitrary: { runs: 60 } }
  )

  it.live.prop(
    "D01 the words of the service mean nothing in a 400 of another form",
    [foreign, anyOperation],
    ([{ body, headers }, { call, id }]) =>
      Effect.gen(function* () {
        const ended = yield* trial({ plan: { requests: [[respond({ status: 400, headers, body })]] }, call })
        assert.strictEqual(reason(ended, "Rejected", id).status, 400)
      }),
    { arbitrary: { runs: 30 } }
  )

  it.effect("D01 both dialects of the service stay understood, whatever the type says", () =>
    Effect.gen(function* () {
      const refusals = [
        [401, "no", "Unauthorized"],
        [400, "APIKey Expired", "Unauthorized"],
        [403, "no", "AccessDenied"],
        [400, "Access Denied.", "AccessDenied"]
      ] as const
      for (const { call, id } of all) {
        for (const [status, text, tag] of refusals) {
          for (const type of ["application/json", "text/plain", "text/html"]) {
            const answer = { status, headers: { "Content-Type": type }, body: JSON.stringify({ Error: text }) }
            reason(yield* clockedTrial({ call, answers: [answer] }), tag, id)
          }
        }
        for (const status of [401, 403]) {
          const ended = yield* clockedTrial({ call, answers: [{ status }] })
          reason(ended, status === 401 ? "Unauthorized" : "AccessDenied", id)
        }
      }
    })
  )

  const absence = (id: string) => (id === "contactsExportByIdStatusGet" ? "ExportNotFound" : notFoundTag(id))

  it.effect(
    "D02 an empty 404 is the service's own, and to a delete or to the retry of a write only if it announces itself",
    () =>
      Effect.gen(function* () {
        const found = everyOperation.filter(({ id }) => /ByEmail|ByName|ById/.test(id))
        assert.strictEqual(found.length, 15)
        for (const { call, id, method } of found) {
          for (const body of [undefined, "", " \r\n"]) {
            const empty = yield* clockedTrial({ call, answers: [{ status: 404, body }] })
            if (method === "DELETE") assert.strictEqual(reason(empty, "UnexpectedContentType", id).contentType, "empty")
            else refusedAs(empty, absence(id), id)
            assert.strictEqual(empty.requests.length, 1, id)
          }
          for (const { name, value } of announcements) {
            const ended = yield* clockedTrial({ call, answers: [{ status: 404, headers: { [name]: value } }] })
            refusedAs(ended, absence(id), id)
          }
          refusedAs(yield* clockedTrial({ call, answers: [json(404, { Error: "not found" })] }), absence(id), id)
          // After a write that may have been carried out it settles nothing.
          const later = yield* clockedTrial({ call, answers: [{ status: 500 }, { status: 404 }] })
          if (method === "GET") refusedAs(later, absence(id), id)
          // A rename looks under the new name.
          else if (id.startsWith("contacts")) reason(later, "OutcomeUnknown", id)
        }
      })
  )

  it.effect("D02 a path that the service does not have is no record that it lacks", () =>
    Effect.gen(function* () {
      const text = "There is no such operation. The paths are those of the interface, below /v4."
      for (const { call, id } of everyOperation) {
        assert.include(
          reason(yield* clockedTrial({ call, answers: [json(404, { Error: text })] }), "Rejected", id).detail,
          text
        )
      }
      // Nor is it gone after a lost delete.
      for (const answer of [json(404, { Error: text }), { status: 404 }, { status: 404, body: "404 page not found" }]) {
        for (const operation of everyOperation.filter(({ method }) => method === "DELETE")) {
          const ended = yield* clockedTrial({ call: operation.call, answers: [{ status: 500 }, answer] })
          reason(ended, "OutcomeUnknown", operation.id)
        }
      }
    })
  )

  it.live.prop(
    "D03 a program that deletes a contact, and takes its absence for done, is not told that it is gone",
    [foreign],
    ([{ body, headers }]) =>
      Effect.gen(function* () {
        const erase = Effect.flatMap(ContactsService, (contacts) =>
          contacts.delete("ann@example.com").pipe(Effect.catchTag("ContactNotFound", () => Effect.void))
        )
        for (const answer of [{ status: 404, headers, body }, { status: 404 }]) {
          failure(yield* trial({ plan: { requests: [[respond(answer)]] }, call: erase }))
        }
        const exported = Effect.flatMap(ContactsService, (contacts) => contacts.exportStatus(exportId))
        reason(
          yield* trial({ plan: { requests: [[respond({ status: 404, headers, body })]] }, call: exported }),
          "UnexpectedContentType"
        )
      }),
    { arbitrary: { runs: 20 } }
  )

  const page: Answer = { status: 404, headers: { "Content-Type": "text/html" }, body: "<h1>404 Not Found</h1>nginx" }
  const ingress: ReadonlyArray<readonly [string, Answer]> = [
    ["a page", page],
    ["nothing", { status: 404 }],
    ["the JSON of a gateway", json(404, { message: "no Route matched with those values" })]
  ]

  /** A service with credentials of each kind, behind an ingress that answers some requests in its place. */
  const credentialService = (inFront: (request: LedgerRequest) => Script | undefined, names: ReadonlyArray<string>) => {
    const there = new Set(names)
    const deleted: Array<string> = []
    let made = 0
    const record = (name: string) => ({
      Name: name,
      AccessLevel: name === credentialNames.apiKey ? ["ViewContacts"] : "SendSmtp",
      DateCreated: "2024-01-02T03:04:05Z"
    })
    const requests = (request: LedgerRequest): Script => {
      const name = decodeURIComponent(request.path.split("/")[4] ?? "")
      const answered = inFront(request)
      if (answered !== undefined) return answered
      if (request.method === "POST") {
        // The body is read with the answer, and the name of a successor is not asked for here.
        const created = request.path.includes("smtp") ? `successor-${++made}@example.com` : credentialNames.apiKey
        there.add(created)
        return [respond(json(201, { ...record(created), Token: canary.password }))]
      }
      if (name === "") return [respond(json(200, Array.from(there, record)))]
      if (!there.has(name)) return [respond(json(404, { Error: `There is no credential "${name}".` }))]
      if (request.method !== "DELETE") return [respond(json(200, record(name)))]
      there.delete(name)
      deleted.push(name)
      return [respond({ status: 200 })]
    }
    return { requests, there, deleted }
  }

  it.live.each(ingress)("D03 rotateSmtp does not say that it deleted what it did not: %s", ([, answer]) =>
    Effect.gen(function* () {
      const old = credentialNames.smtp
      // The ingress loses the path of the old credential, after its successor was made.
      const service = credentialService(
        ({ method, path }) =>
          (method === "DELETE" || method === "GET") && path.endsWith(encodeURIComponent(old))
            ? [respond(answer)]
            : undefined,
        [old]
      )
      let delivered = 0
      const deliver = () => Effect.sync(() => void delivered++)
      const call = rotateSmtp(old, { deliver, grace: "0 seconds" })
      const ended = yield* trial({ plan: { requests: service.requests }, call })
      reason(ended, "UnexpectedContentType")
      assert.strictEqual(delivered, 1)
      assert.isTrue(service.there.has(old))
    })
  )

  it.live.each(ingress)("D03 createWithRetry deletes no key that existed before: %s", ([, answer]) =>
    Effect.gen(function* () {
      const name = credentialNames.apiKey
      let looked = 0
      const service = credentialService(
        ({ method }) =>
          method === "GET" && ++looked === 1
            ? [respond(answer)]
            : method === "POST"
              ? [respond({ ...page, status: 502 })]
              : undefined,
        [name]
      )
      const call = Effect.flatMap(CredentialsService, ({ apiKeys }) =>
        createWithRetry(apiKeys, { name, accessLevels: ["ViewContacts"] })
      )
      failure(yield* trial({ plan: { requests: service.requests }, call }))
      assert.deepStrictEqual(service.deleted, [])
      assert.isTrue(service.there.has(name))
    })
  )

  it.live.each(ingress)("D03 nobody is added or resubscribed on the word of an ingress: %s", ([, answer]) =>
    Effect.gen(function* () {
      const email = EmailAddress.make("ann@example.com")
      const contacts = <A, E>(use: (service: ContactsService["Service"]) => Effect.Effect<A, E, ContactsService>) =>
        Effect.flatMap(ContactsService, use)
      const calls: ReadonlyArray<OperationCall["call"]> = [
        contacts((service) => service.add([{ email, status: "Active" }], { resubscribe: false })),
        contacts((service) => service.change([{ email, seen: null, write: { firstName: "Ann" } }]))
      ]
      for (const call of calls) {
        const requests = ({ path }: LedgerRequest): Script => [
          respond(path.endsWith("/changes") ? json(404, { Error: "no" }) : answer)
        ]
        const ended = yield* trial({ plan: { requests }, call })
        reason(ended, "UnexpectedContentType")
        assert.isFalse(ended.requests.some(({ method, path }) => method === "POST" && !path.endsWith("/changes")))
      }
    })
  )
})

describe("what was sent is in doubt", () => {
  const heads: ReadonlyArray<readonly [string, string]> = [
    ["a length in words", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}"],
    ["a signed length", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}"],
    ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}"],
    ["a hexadecimal length", "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\n{}"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    ],
    ["a head of 20 KB", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(20 * 1024)}\r\nContent-Length: 2\r\n\r\n{}`],
    ["a line without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["a NUL in a header", "HTTP/1.1 200 OK\r\nX: a\u0000b\r\n\r\n"],
    ["another version", "HTTP/3.9 200 OK\r\n\r\n"],
    ["no status", "HTTP/1.1 OK\r\n\r\n"],
    ["a banner", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["markup", "<html>hello</html>\r\n"],
    ["noise", "\u0000\u0001\u0002\r\n\r\n"]
  ]

  /** Writes that are not repeated are in doubt, those that are go on, and reads do. */
  const doubted = Effect.fnUntraced(function* (operation: OperationCall, script: Script, about: string) {
    for (const [name, transport] of transports) {
      const good = [respond({ ...operation.answer, headers: { Connection: "close" } }), finish]
      const where = `${operation.id} over ${name}: ${about}`
      const isRepeated = repeatsAmbiguous(operation)
      const once = yield* trial({ plan: { requests: [script, good] }, call: operation.call, transport })
      assert.strictEqual(once.requests.length, isRepeated ? 2 : 1, where)
      if (isRepeated) succeeded(once, where)
      else reason(once, "OutcomeUnknown", where)
      if (!isRepeated || operation.method === "GET") continue
      reason(yield* trial({ plan: { requests: [script] }, call: operation.call, transport }), "OutcomeUnknown", where)
    }
  })

  it.live.each(heads)("D04 a head that cannot be read: %s", ([about, bytes]) =>
    Effect.gen(function* () {
      for (const operation of [operationCall("contactsByEmailGet"), ...writes]) {
        yield* doubted(operation, [readBody(), write(bytes), finish], about)
      }
    })
  )

  it.live.prop(
    "D04 every status of 500 or more that the interface does not define",
    [oneOf([501, ...Array.from({ length: 95 }, (_, index) => 505 + index), 600, 777, 999]), foreign, anyOperation],
    ([status, { body, headers }, operation]) =>
      doubted(
        operation,
        [respond({ status, headers: { ...headers, Connection: "close" }, body }), finish],
        String(status)
      ),
    { arbitrary: { runs: 40 } }
  )

  it.effect("D04 an error of a connection that was made is no error of making it", () =>
    Effect.gen(function* () {
      for (const code of ["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL"]) {
        for (const syscall of ["read", "write"]) {
          for (const { call, id } of writes) {
            reason(yield* clockedTrial({ call, answers: [{ code, syscall }] }), "OutcomeUnknown", `${id}, ${code}`)
          }
        }
      }
    })
  )

  it.live("D05 a call after its transport was closed was not sent", () =>
    Effect.gen(function* () {
      const server = yield* faultServer({ requests: [[readBody(), reset]] })
      const scope = yield* Scope.make()
      const client = RosterClient.layer({ baseUrl: server.baseUrl, apiKey: canaryKey }).pipe(
        Layer.provide(UndiciHttpClient.layer())
      )
      const services = yield* Layer.buildWithScope(client, scope)
      yield* Scope.close(scope, Exit.void)
      for (const { call, id } of [...everyOperation, ...ownOperations]) {
        const ended = { exit: yield* Effect.exit(Effect.provide(call, services)) }
        const said = reason(ended, "Unavailable", id)
        assert.isTrue(said.isPermanent, id)
        assert.match(said.message, /transport .* was closed/)
      }
      assert.deepStrictEqual(server.ledger.requests(), [])
    }).pipe(Effect.scoped)
  )
})
