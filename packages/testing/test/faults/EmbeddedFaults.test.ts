/** A fault plan behind the HTTP client in one process: the client sees what it sees over a socket, and repeats. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress, FaultPlan } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Clock, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { reason } from "./Verdict.ts"

const email = EmailAddress.make("ann@example.com")

const overHttp = (attempts: number, faults: FaultPlan.FaultPlan) =>
  RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts } }).pipe(
    Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:", faults }))
  )

const inOneProcess = [
  [FaultPlan.rateLimited(7), "RateLimited", 0],
  [FaultPlan.unavailable(8), "Unavailable", 0],
  [FaultPlan.unauthorized, "Unauthorized", 0],
  [FaultPlan.cutBefore, "OutcomeUnknown", 0],
  [FaultPlan.cutAfter, "OutcomeUnknown", 1],
  [FaultPlan.cutBody, "OutcomeUnknown", 1]
] as const

describe("a fault plan of an embedded service", () => {
  it.effect.each(inOneProcess)("%o is %s to an add, after which %i contacts are there", ([fault, tag, count]) =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      reason({ exit: yield* Effect.exit(contacts.add([{ email }])) }, tag)
      assert.strictEqual((yield* contacts.list()).length, count)
    }).pipe(Effect.provide(overHttp(1, FaultPlan.make({ "contacts.add": { 1: fault } }))))
  )

  it.effect("delays a call by the clock", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const call = yield* Effect.forkChild(Effect.andThen(contacts.list(), Clock.currentTimeMillis))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(call), 20_000)
    }).pipe(Effect.provide(overHttp(1, FaultPlan.make({ "contacts.list": { 1: FaultPlan.delay("20 seconds") } }))))
  )

  it.live("counts every attempt of the client, which repeats a read and resumes a download", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* contacts.add([{ email }])
      assert.strictEqual((yield* contacts.get(email)).email, email)
      const { link } = yield* contacts.export({ fileFormat: "Csv" })
      const file = yield* Stream.mkString(Stream.decodeText(contacts.download(link)))
      assert.strictEqual(file.split(email).length, 2)
      assert.isTrue(file.startsWith("Email,"))
    }).pipe(
      Effect.provide(
        overHttp(
          3,
          FaultPlan.make({
            "contacts.get": { 1: FaultPlan.cutAfter, 2: FaultPlan.cutBody },
            "contacts.download": { 1: FaultPlan.cutBody, 2: FaultPlan.cutBefore }
          })
        )
      )
    )
  )
})
