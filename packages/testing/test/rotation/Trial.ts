/**
 * A rotation in an account of its own, run by run, on a clock that the test moves.
 */
import { assert } from "@effect/vitest"
import { CredentialName, CredentialsService, EmailAddress, IpRange, type NewApiKey } from "@roster/domain"
import { rotateApiKey, rotateSmtp, type RotationOptions, type RotationStep, type Run, RunLog } from "@roster/workflows"
import { Context, DateTime, Effect, Exit, Fiber, Layer, Redacted, Schedule, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { heldSecrets } from "./HeldSecrets.ts"

let accounts = 0

/** Lets a fiber run on the test's clock until it ends. */
export const passing = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>, limit = 400) {
  const fiber = yield* Effect.forkChild(effect)
  for (let i = 0; i < limit; i++) {
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return exit
    yield* TestClock.adjust("1 minute")
  }
  yield* Fiber.interrupt(fiber)
  return assert.fail("it did not end")
})

export const limits = {
  expires: DateTime.makeUnsafe("2090-12-31T00:00:00Z"),
  ipRanges: [IpRange.make("192.0.2.0/24"), IpRange.make("2001:db8::/32")]
}

export const makeTrial = Effect.gen(function* () {
  const store = yield* CredentialsService
  const subaccount = EmailAddress.make(`a${++accounts}@rotation.example`)
  const secrets = heldSecrets(store)
  const memory = Context.get(yield* Layer.build(RunLog.layerMemory()), RunLog)
  const watched = (run: Run): Run => ({
    ...run,
    append: (entry, options) => {
      const phase = entry._tag === "Step" ? Object(entry.state).phase : entry._tag
      return secrets.around(`save ${phase}`, run.append(entry, options))
    },
    end: secrets.around("clear", run.end)
  })
  const log: RunLog["Service"] = {
    ...memory,
    open: (options) => secrets.around("load", Effect.map(memory.open(options), watched))
  }
  const delivered: Array<{ readonly name: string; readonly secret: string }> = []
  const deliver = (made: { readonly name: string; readonly token: Redacted.Redacted<string> }) =>
    secrets.around(
      "deliver",
      Effect.sync(() => {
        secrets.hold(made.token)
        delivered.push({ name: made.name, secret: Redacted.value(made.token) })
      })
    )
  const steps: Array<RotationStep> = []
  const options = {
    subaccount,
    deliver,
    idle: "2 minutes",
    grace: "1 hour",
    schedule: Schedule.spaced("1 minute"),
    onStep: (step: RotationStep) =>
      Effect.sync(() => {
        steps.push(step)
      })
  } as const
  const providedBy =
    (by: CredentialsService["Service"]) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(Effect.provideService(CredentialsService, by), Effect.provideService(RunLog, log))
  const provided = providedBy(secrets.service)
  const ci = CredentialName.make("ci")
  const shop = EmailAddress.make(`shop@d${accounts}.example`)
  return {
    store,
    secrets,
    subaccount,
    options,
    delivered,
    steps,
    ci,
    shop,
    makeKey: Effect.tap(
      store.apiKeys.create({ name: ci, accessLevels: ["ViewContacts", "Export"], subaccount, ...limits }),
      ({ name, token }) => Effect.sync(() => secrets.adopt(name, token))
    ),
    makeSmtp: Effect.tap(store.smtp.create({ name: shop, subaccount, ...limits }), ({ name, token }) =>
      Effect.sync(() => secrets.adopt(name, token))
    ),
    keys: store.apiKeys.list({ subaccount }),
    smtp: store.smtp.list({ subaccount }),
    /** The record that the next run finds. */
    remember: (state: Schema.Json) =>
      Effect.scoped(
        Effect.gen(function* () {
          const input = { kind: "apikeys", name: ci, subaccount }
          const run = yield* memory.open({ command: "rotate", input })
          yield* run.append({ _tag: "Step", state })
        })
      ),
    provided,
    rotate: <E = never, R = never>(
      more: Partial<RotationOptions<NewApiKey, E, R>> = {},
      by: CredentialsService["Service"] = secrets.service
    ) => passing(providedBy(by)(rotateApiKey(ci, { ...options, ...more }))),
    rotateSmtp: (name: string = shop) => passing(provided(rotateSmtp(name, options)))
  }
})

/** The lifetime that a credential was made with, in minutes. */
export const lifetimeOf = (
  credential: { readonly dateCreated?: DateTime.Utc; readonly expires?: DateTime.Utc | null } = {}
) =>
  credential.dateCreated === undefined || credential.expires == null
    ? undefined
    : Math.round((DateTime.toEpochMillis(credential.expires) - DateTime.toEpochMillis(credential.dateCreated)) / 60_000)

export const succeeded = <A, E>(exit: Exit.Exit<A, E>): A =>
  Exit.isSuccess(exit) ? exit.value : assert.fail(`it ended with ${String(exit.cause)}`)

export const tagOf = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): string | undefined =>
  Exit.isSuccess(exit) ? undefined : exit.cause.reasons.flatMap((r) => (r._tag === "Fail" ? [r.error._tag] : []))[0]
