/** A check of an account: what it reports, and that it leaves nothing behind. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, CredentialsService, EmailAddress, FaultPlan } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Console, Deferred, Effect, Exit, Fiber } from "effect"
import { TestConsole } from "effect/testing"
import { conformance } from "../../src/conformance/Conformance.ts"
import { CaseFailed } from "../../src/conformance/cases/Cases.ts"
import { checkAccount, maximumProblem, NotConformant } from "../../src/conformance/account/AccountCheck.ts"

/** Everything that the account has. */
const account = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const { apiKeys, smtp } = yield* CredentialsService
  return [yield* contacts.list(), yield* apiKeys.list(), yield* smtp.list()]
})

/** Runs a check in an account that has a contact and a key of others, and says whether it is as it was. */
const checked = <A, E, R>(check: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const { apiKeys } = yield* CredentialsService
    yield* contacts.add([{ email: EmailAddress.make("ann@example.com") }])
    yield* apiKeys.create({ name: "ci", accessLevels: ["Export"] })
    const before = yield* account
    const exit = yield* Effect.exit(check)
    assert.deepStrictEqual(yield* account, before)
    return { exit, lines: (yield* TestConsole.logLines).map(String) }
  })

const casesOf = (...areas: ReadonlyArray<string>) => conformance.all().filter(({ area }) => areas.includes(area))

const services = (plan: FaultPlan.FaultPlan = FaultPlan.make({})) => layerMemory().pipe(FaultPlan.layer(plan))

describe("a check of an account", () => {
  it.live("passes on a store of ours, says what it skips and what it sees, and leaves the account as it was", () =>
    Effect.gen(function* () {
      const cases = casesOf("contacts: update and delete", "contacts: delete in bulk")
      const { exit, lines } = yield* checked(checkAccount(cases))
      assert.isTrue(Exit.isSuccess(exit), lines.join("\n"))
      const of = (word: string) => lines.filter((line) => line.startsWith(`${word}  `))
      assert.isAtLeast(of("passed").length, 10)
      assert.isAtLeast(of("seen").length, 10)
      assert.isTrue(of("skipped").some((line) => /deletes what a rule selects: it needs .* may all be lost/.test(line)))
      assert.include(lines, "seen  In which order are contacts listed? in the order of adding")
      assert.strictEqual(lines.at(-1), `${of("passed").length} passed, 0 failed, ${of("skipped").length} skipped.`)
    }).pipe(Effect.provide([services(), TestConsole.layer]))
  )

  it.live("fails where a service breaks a promise, and cleans up all the same", () =>
    Effect.gen(function* () {
      const { exit, lines } = yield* checked(checkAccount(conformance.credentials()))
      assert.deepStrictEqual(exit, Exit.fail(new NotConformant({ failed: lines.filter(isFailed).length })))
      assert.isTrue(
        lines.some((line) => isFailed(line) && line.includes("reads of API keys after writes: list after update"))
      )
    }).pipe(
      Effect.provide([
        services(FaultPlan.make({ "apiKeys.update": { every: FaultPlan.unauthorized } })),
        TestConsole.layer
      ])
    )
  )

  it.live("cleans up when it is interrupted", () =>
    Effect.gen(function* () {
      // By the time of its line a case has made contacts.
      const said = yield* Deferred.make<void>()
      const console = { ...(yield* Console.Console), log: () => Deferred.doneUnsafe(said, Effect.void) }
      const check = Effect.gen(function* () {
        const running = yield* Effect.forkChild(
          Effect.provideService(checkAccount(casesOf("contacts: update and delete")), Console.Console, console)
        )
        yield* Deferred.await(said)
        yield* Fiber.interrupt(running)
      })
      const { exit } = yield* checked(check)
      assert.isTrue(Exit.isSuccess(exit))
    }).pipe(Effect.provide([services(), TestConsole.layer]))
  )

  it.live("shows a problem on one line that cannot act on the terminal, cut beyond the bound", () =>
    Effect.gen(function* () {
      const failing = (name: string, problem: string) => ({
        area: "area",
        name,
        needs: [],
        run: Effect.fail(new CaseFailed({ problem, cause: problem }))
      })
      const cases = [failing("acts", "a\n\u001b[2J b"), failing("is long", "x".repeat(maximumProblem + 1))]
      const { lines } = yield* checked(checkAccount(cases))
      assert.include(lines, "failed  area: acts: a ␛[2J b")
      assert.include(lines, `failed  area: is long: ${"x".repeat(maximumProblem)}…`)
    }).pipe(Effect.provide([services(), TestConsole.layer]))
  )
})

const isFailed = (line: string): boolean => line.startsWith("failed  ")
