import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  ExportId,
  ExportNotFound,
  ExportStatus,
  layerTestContacts,
  ServiceError,
  Unauthorized,
  Unavailable
} from "@roster/domain"
import { awaitExport } from "../../src/exports/ExportPolling.ts"

const id = ExportId.make("3fa85f64-5717-4562-b3fc-2c963f66afa6")

const lost = new ServiceError({ operation: "contactsExportByIdStatusGet", reason: new Unavailable({ detail: "down" }) })
const denied = new ServiceError({ operation: "contactsExportByIdStatusGet", reason: new Unauthorized({}) })
const absent = new ExportNotFound({ id })

type Look = string | ServiceError | ExportNotFound

/** A service that answers one look after another, the last one for ever, and notes when it was asked. */
const service = (answers: readonly [Look, ...ReadonlyArray<Look>], looks: Array<number>) =>
  layerTestContacts({
    exportStatus: (asked) =>
      Effect.gen(function* () {
        assert.strictEqual(asked, id)
        const answer = answers[Math.min(looks.length, answers.length - 1)] ?? answers[0]
        looks.push(yield* Clock.currentTimeMillis)
        return typeof answer === "string"
          ? yield* Effect.orDie(Schema.decodeEffect(ExportStatus)(answer))
          : yield* answer
      })
  })

const wait = (answers: readonly [Look, ...ReadonlyArray<Look>], looks: Array<number>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(awaitExport(id).pipe(Effect.provide(service(answers, looks))))
    yield* TestClock.adjust("40 minutes")
    return yield* Fiber.await(fiber)
  })

const failure = <A, E>(exit: Exit.Exit<A, E>) => Effect.flip(Exit.isFailure(exit) ? exit : Effect.die("it succeeded"))

describe("awaitExport", () => {
  it.effect("looks at once, and only once where the file is ready", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      yield* awaitExport(id).pipe(Effect.provide(service(["Ready"], looks)))
      assert.deepStrictEqual(looks, [0])
    })
  )

  it.effect("looks until the file is ready, through statuses that it does not know", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      assert.isTrue(Exit.isSuccess(yield* wait(["Loading", "Queued", "Loading", "Ready"], looks)))
      assert.strictEqual(looks.length, 4)
    })
  )

  it.effect("waits 1 s, half as long again each time up to 15 s, a fifth more or less, for 30 minutes", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      const error = yield* failure(yield* wait(["Loading"], looks))
      assert.strictEqual(error._tag, "ExportTimedOut")
      if (error._tag === "ExportTimedOut") assert.deepStrictEqual([error.id, error.lastStatus], [id, "Loading"])
      for (const [index, time] of looks.slice(1).entries()) {
        const pause = time - (looks[index] ?? 0)
        const planned = Math.min(15_000, 1000 * 1.5 ** index)
        assert.isAtLeast(pause, Math.floor(planned * 0.8), `pause ${index}`)
        assert.isAtMost(pause, Math.ceil(planned * 1.2), `pause ${index}`)
      }
      assert.isAtLeast(looks.at(-1) ?? 0, 29 * 60_000)
      assert.isAtMost(looks.at(-1) ?? 0, 30 * 60_000 + 18_000)
      assert.isAbove(
        new Set(looks.slice(8).map((time, index) => time - (looks[index + 7] ?? 0))).size,
        1,
        "it is jittered"
      )
    })
  )

  it.effect.each([
    ["Error", "ExportFailed"],
    ["Expired", "ExportExpired"]
  ] as const)("ends at once with the status %s", ([status, tag]) =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      const error = yield* failure(yield* wait(["Loading", status, "Ready"], looks))
      assert.strictEqual(error._tag, tag)
      assert.strictEqual(looks.length, 2)
    })
  )

  it.effect("overlooks twice that the export is not known, in the first 10 seconds and not later", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      assert.isTrue(Exit.isSuccess(yield* wait([absent, absent, "Loading", "Ready"], looks)))
      const unknown: Array<number> = []
      assert.strictEqual((yield* failure(yield* wait([absent], unknown)))._tag, "ExportNotFound")
      assert.strictEqual(unknown.length, 3)
      const late: Array<number> = []
      const loading = Array.from({ length: 10 }, () => "Loading")
      assert.strictEqual(
        (yield* failure(yield* wait(["Loading", ...loading, absent, "Ready"], late)))._tag,
        "ExportNotFound"
      )
      assert.strictEqual(late.length, 12)
    })
  )

  it.effect("goes on through five lost looks in a row, again and again", () =>
    Effect.gen(function* () {
      const five = [lost, lost, lost, lost, lost]
      const looks: Array<number> = []
      assert.isTrue(Exit.isSuccess(yield* wait(["Loading", ...five, "Loading", ...five, "Ready"], looks)))
      assert.strictEqual(looks.length, 13)
    })
  )

  it.effect("is interrupted by the sixth, which is not the export's failure, and can go on with the same id", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      const error = yield* failure(yield* wait(["Loading", lost, lost, lost, lost, lost, lost, "Ready"], looks))
      assert.strictEqual(error._tag, "ExportPollingFailed")
      if (error._tag === "ExportPollingFailed") assert.strictEqual(error.id, id)
      // Nobody looked since, so whether it runs is not known.
      assert.match(error.message, /^The status of export \S+ is unknown: .+\. It may still be running: wait again/)
      assert.strictEqual(looks.length, 7)
    })
  )

  it.effect("does not go on with a key that is refused", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      const error = yield* failure(yield* wait(["Loading", denied, "Ready"], looks))
      assert.strictEqual(error._tag === "ServiceError" ? error.reason._tag : error._tag, "Unauthorized")
      assert.strictEqual(looks.length, 2)
    })
  )

  it.effect("ends with the time or the schedule that is handed in", () =>
    Effect.gen(function* () {
      for (const options of [
        { limit: "10 seconds" },
        { schedule: Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(9)]) }
      ] as const) {
        const looks: Array<number> = []
        const fiber = yield* Effect.forkChild(
          awaitExport(id, options).pipe(Effect.provide(service(["Loading"], looks)))
        )
        yield* TestClock.adjust("15 seconds")
        const error = yield* failure(yield* Fiber.await(fiber))
        assert.strictEqual(error._tag, "ExportTimedOut")
        assert.isAtLeast(looks.length, 4)
      }
    })
  )

  it.effect("stops looking when it is interrupted", () =>
    Effect.gen(function* () {
      const looks: Array<number> = []
      const fiber = yield* Effect.forkChild(awaitExport(id).pipe(Effect.provide(service(["Loading"], looks))))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(fiber)
      const before = looks.length
      yield* TestClock.adjust("10 minutes")
      assert.isAbove(before, 1)
      assert.strictEqual(looks.length, before)
    })
  )
})
