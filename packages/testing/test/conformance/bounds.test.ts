/** The bounds of a run of the conformance suite, at each and beyond it. */
import { assert, describe, it } from "@effect/vitest"
import { type Contact, ContactsService, CredentialsService } from "@roster/domain"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { caseTimeout, type ConformanceCase } from "../../src/conformance/cases/Cases.ts"
import { cleanUpRounds, NotCleanedUp, withCleanUp } from "../../src/conformance/account/CleanUp.ts"
import { runConformance } from "../../src/conformance/account/ConformanceRun.ts"
import { place } from "../../src/conformance/cases/Place.ts"
import { unchecked } from "../../src/conformance/cases/Unchecked.ts"

const caseOf = (name: string, run: ConformanceCase<never>["run"]): ConformanceCase<never> => ({
  area: "bounds",
  name,
  needs: [],
  run
})

describe("a case", () => {
  it.effect("may take the time of a case, and has failed after it", () =>
    Effect.gen(function* () {
      const cases = [caseOf("in time", Effect.sleep(caseTimeout - 1)), caseOf("too long", Effect.never)]
      const running = yield* Effect.forkChild(Stream.runCollect(runConformance(cases)))
      yield* TestClock.adjust(caseTimeout - 1)
      yield* TestClock.adjust(caseTimeout)
      assert.deepStrictEqual(
        (yield* Fiber.join(running)).map(({ outcome }) => outcome),
        [unchecked({ _tag: "Passed" }), unchecked({ _tag: "Failed", problem: "it did not end within 60 s" })]
      )
    })
  )
})

describe("the contacts of cases", () => {
  /** Runs with a service that has a contact at each of the first looks, and gives how often it deleted. */
  const cleanUp = Effect.fnUntraced(function* (arrivals: number) {
    const email = place().email("late")
    let looks = 0
    let deletes = 0
    const services = Layer.merge(
      Layer.mock(ContactsService)({
        add: () => Effect.succeed([]),
        stream: () => {
          looks += 1
          return looks <= arrivals ? Stream.make(unchecked<Contact>({ email })) : Stream.empty
        },
        deleteMany: () =>
          Effect.sync(() => {
            deletes += 1
          })
      }),
      Layer.mock(CredentialsService)({ apiKeys: unchecked({}), smtp: unchecked({}) })
    )
    const added = Effect.flatMap(ContactsService, (contacts) => contacts.add([{ email }]))
    const left = yield* withCleanUp(added).pipe(
      Effect.as(undefined),
      Effect.catch((error) => Effect.succeed(error)),
      Effect.provide(services)
    )
    return { left, deletes }
  })

  it.effect("are looked for so often, and then named as left", () =>
    Effect.gen(function* () {
      const inTime = yield* cleanUp(cleanUpRounds - 1)
      assert.deepStrictEqual(inTime, { left: undefined, deletes: cleanUpRounds - 1 })
      const { deletes, left } = yield* cleanUp(cleanUpRounds)
      assert.strictEqual(deletes, cleanUpRounds)
      assert.instanceOf(left, NotCleanedUp)
      assert.include(left.message, "more of them arrive")
    })
  )
})
