/** A durable job repeats a call whose answer was lost, with the key of its own: the call has one effect. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress, EmailsService, type ServiceError } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { HttpClient, HttpClientError, type HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"

const services = RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
  Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:", allowedSenders: ["*@example.com"] }))
)

const mail = {
  recipients: [{ email: "someone@elsewhere.test" }],
  content: { from: "john@example.com", body: [{ contentType: "PlainText" as const, content: "Hi" }] }
}

/** Loses the first answers, after the service has written, and notes those that came. */
const losing = (answers: number) => {
  const lost: Array<string> = []
  const lose = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
    if (lost.length >= answers) return response
    lost.push(yield* response.text)
    const reason = new HttpClientError.TransportError({ request: response.request })
    return yield* new HttpClientError.HttpClientError({ reason })
  })
  const transform = (client: HttpClient.HttpClient) => HttpClient.transformResponse(client, Effect.flatMap(lose))
  return { lost, transform }
}

/** Repeats a call every ten minutes as long as nobody knows what became of it. */
const durably = <A, E extends { readonly _tag: string }>(call: Effect.Effect<A, E | ServiceError>) => {
  const unknown: Array<string> = []
  const repeated = call.pipe(
    Effect.tapError((error) => Effect.sync(() => unknown.push(error instanceof Error ? error.message : error._tag))),
    Effect.retry({
      schedule: Schedule.spaced("10 minutes"),
      while: (error) => "reason" in error && error.reason._tag === "OutcomeUnknown"
    })
  )
  return { unknown, repeated }
}

describe("a call with the caller's own key whose answers are lost", () => {
  it.effect("send: is repeated by the job alone, and the message is sent once", () =>
    Effect.gen(function* () {
      const emails = yield* EmailsService
      const contacts = yield* ContactsService
      const { lost, transform } = losing(3)
      // An answer says that the service honours keys.
      yield* contacts.list()
      const job = durably(emails.send(mail, { idempotencyKey: "order-42-mail" }))
      const running = yield* Effect.forkChild(RosterClient.withClientTransform(job.repeated, transform))
      yield* TestClock.adjust("31 minutes")
      const sent = yield* Fiber.join(running)
      assert.strictEqual(lost.length, 3)
      assert.deepStrictEqual(
        lost.map((text) => JSON.parse(text).MessageID),
        [sent.messageId, sent.messageId, sent.messageId]
      )
      assert.strictEqual(job.unknown.length, 3)
      for (const message of job.unknown) assert.include(message, "with the same idempotency key within an hour")
    }).pipe(Effect.provide(services))
  )

  it.effect("add: is repeated by the client too, and what was changed meanwhile stays", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const email = EmailAddress.make("ada@example.com")
      yield* contacts.list()
      // Three attempts of the first call, and one of the second.
      const { lost, transform } = losing(4)
      const options = { idempotencyKey: "sync-2026-11-22-7", listNames: ["customers"] }
      const job = durably(contacts.add([{ email, firstName: "Ada" }], options))
      const running = yield* Effect.forkChild(RosterClient.withClientTransform(job.repeated, transform))
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(lost.length, 3)
      yield* contacts.update(email, { firstName: "Changed" })
      yield* TestClock.adjust("30 minutes")
      const [added] = yield* Fiber.join(running)
      assert.strictEqual(added?.firstName, "Ada")
      assert.strictEqual((yield* contacts.get(email)).firstName, "Changed")
      assert.deepStrictEqual([lost.length, new Set(lost).size, job.unknown.length], [4, 1, 1])
    }).pipe(Effect.provide(services))
  )

  it.effect("says how to find out what happened where the service is not known to honour keys", () =>
    Effect.gen(function* () {
      const emails = yield* EmailsService
      const { transform } = losing(1)
      const error = yield* Effect.flip(
        RosterClient.withClientTransform(emails.send(mail, { idempotencyKey: "order-43-mail" }), transform)
      )
      assert.include(error.message, "Sending again could deliver the message twice.")
    }).pipe(Effect.provide(services))
  )

  it.effect("is forgotten after an hour, and not before", () =>
    Effect.gen(function* () {
      const emails = yield* EmailsService
      const send = emails.send(mail, { idempotencyKey: "order-44-mail" })
      const first = yield* send
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual(yield* send, first)
      yield* TestClock.adjust("1 hour")
      assert.notStrictEqual((yield* send).messageId, first.messageId)
    }).pipe(Effect.provide(services))
  )
})
