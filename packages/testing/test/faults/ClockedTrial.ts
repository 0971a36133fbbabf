/**
 * A trial of the client against responses without a socket, on the TestClock: for waits, schedules and deadlines of any
 * length.
 */
import { type ClientOptions, RetryPolicy, RosterClient } from "@roster/http-client"
import { Clock, type Duration, Effect, type Exit, Fiber, Layer, Random } from "effect"
import { TestClock } from "effect/testing"
import { canaryKey } from "./Canary.ts"
import type { Services } from "./EveryOperation.ts"
import { observed, type Policy } from "./FaultTrial.ts"
import { type ScriptedAnswer, scriptedHttpClient, type ScriptedRequest } from "./server/ScriptedHttpClient.ts"

export interface ClockedTrialOptions<A, E> {
  readonly call: Effect.Effect<A, E, Services>
  readonly answers: ReadonlyArray<ScriptedAnswer> | ((request: ScriptedRequest, number: number) => ScriptedAnswer)
  /** The value of every random number, in [0, 1) (default: 0.5). */
  readonly random?: number | undefined
  /** Settings that differ from the default policy. */
  readonly policy?: Partial<Policy> | undefined
  readonly client?: Partial<ClientOptions> | undefined
  /** The step of the clock, and so the precision of times (default: 50 ms). */
  readonly step?: Duration.Input | undefined
}

export interface ClockedTrial<A, E> {
  readonly exit: Exit.Exit<A, E>
  /** Each with its time in milliseconds since the start. */
  readonly requests: ReadonlyArray<ScriptedRequest>
  /** The duration in milliseconds of the clock. */
  readonly took: number
}

/** Lets promises settle without advancing time. */
const settle = Effect.promise(
  () =>
    new Promise<void>((resolve) => {
      setImmediate(() => setImmediate(resolve))
    })
)

/** Advances the clock until the effect ends; dies after a day. */
export const overTime = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  step: Duration.Input = "50 millis"
) {
  const started = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(Effect.exit(effect), { startImmediately: true })
  for (;;) {
    yield* settle
    if (fiber.pollUnsafe() !== undefined) break
    if ((yield* Clock.currentTimeMillis) - started > 86_400_000)
      return yield* Effect.die(new Error("it went on for a day"))
    yield* TestClock.adjust(step)
  }
  const exit = yield* Fiber.join(fiber)
  return { exit, took: (yield* Clock.currentTimeMillis) - started }
})

/** Runs a call with a new client. */
export const clockedTrial = Effect.fnUntraced(function* <A, E>(options: ClockedTrialOptions<A, E>) {
  const started = yield* Clock.currentTimeMillis
  const { layer, requests } = scriptedHttpClient(options.answers)
  const client = RosterClient.layer({ baseUrl: "http://127.0.0.1:9/v4", apiKey: canaryKey, ...options.client })
  const policy = { ...(yield* RetryPolicy), ...options.policy }
  const random = options.random ?? 0.5
  const { exit, took } = yield* overTime(
    observed(
      options.call.pipe(
        Effect.provide(client.pipe(Layer.provide(layer)), { local: true }),
        Effect.provideService(RetryPolicy, policy),
        Effect.provideService(Random.Random, {
          nextDoubleUnsafe: () => random,
          nextIntUnsafe: () => Math.floor(random * 2 ** 31)
        })
      )
    ),
    options.step
  )
  const seen = yield* exit
  return { ...seen, took, requests: requests.map((request) => ({ ...request, at: request.at - started })) }
})
