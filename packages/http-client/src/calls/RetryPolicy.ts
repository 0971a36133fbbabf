/** Retries as the row of the operation allows, after a random growing wait, while attempts and budget last. */
import { TimedOut } from "@roster/domain"
import { KnownFields } from "@roster/domain/internal"
import { Clock, Context, Duration, Effect, Random, Record, Struct } from "effect"
import { CurrentRequestPhase, type RequestPhase } from "../transport/RequestPhase.ts"
import { budgetLeft, retryCount, tagOf, waited } from "./ClientMetrics.ts"
import { type Failure, failureOf } from "./ErrorClassification.ts"
import type { RetryRow } from "./RetryTable.ts"

/** The settings of a retry policy. */
export interface RetrySettings {
  /** Maximum number of attempts, with the first one (default: 3). */
  readonly attempts: number
  /** Maximum of the first wait (default: 100 ms); each later one may be twice as long. */
  readonly base: Duration.Input
  /** Maximum of the first wait where the service asks to slow down (default: 1 s). */
  readonly throttledBase: Duration.Input
  /** Maximum wait unless the service asks for more (default: 20 s). */
  readonly longestWait: Duration.Input
  /** A longer Retry-After ends the call (default: 60 s). */
  readonly longestRetryAfter: Duration.Input
  /** Maximum time of one attempt, with its whole response (default: 30 s). */
  readonly attemptTimeout: Duration.Input
  /** Maximum time of a call, with all attempts and waits (default: 120 s). */
  readonly totalTimeout: Duration.Input
  /** Assumes that the service honours Idempotency-Key, even if it does not say so (default: no). */
  readonly assumeIdempotencyKey: boolean
}

/** Its fields. */
export const retryFields = KnownFields.fieldsOf<RetrySettings>("a retry policy", {
  attempts: true,
  base: true,
  throttledBase: true,
  longestWait: true,
  longestRetryAfter: true,
  attemptTimeout: true,
  totalTimeout: true,
  assumeIdempotencyKey: true
})

/** The settings that are durations. */
export const durations = [
  "base",
  "throttledBase",
  "longestWait",
  "longestRetryAfter",
  "attemptTimeout",
  "totalTimeout"
] as const

/** Settings whose durations are read. */
export type RetryLimits = RetrySettings & Readonly<Record<(typeof durations)[number], Duration.Duration>>

const limitsOf = (settings: RetrySettings): RetryLimits => ({
  ...settings,
  ...Record.map(Struct.pick(settings, durations), Duration.fromInputUnsafe)
})

/** Some of the settings; the others stay. */
export type PartialRetrySettings = { readonly [Name in keyof RetrySettings]?: RetrySettings[Name] | undefined }

/** The default settings of a client. */
export const defaultRetrySettings: RetrySettings = {
  attempts: 3,
  base: Duration.millis(100),
  throttledBase: Duration.seconds(1),
  longestWait: Duration.seconds(20),
  longestRetryAfter: Duration.seconds(60),
  attemptTimeout: Duration.seconds(30),
  totalTimeout: Duration.seconds(120),
  assumeIdempotencyKey: false
}

/**
 * The retry policy of a client's layer, changed by its option `retry`. Around a call, it replaces that policy,
 * since the methods of the services have no options of one layer alone.
 */
export const RetryPolicy = Context.Reference<RetrySettings>("@roster/http-client/RetryPolicy", {
  defaultValue: () => defaultRetrySettings
})

/** The policy of a client. One around a call replaces it, unless the client was built inside the same one. */
export const clientPolicy = (settings: PartialRetrySettings = {}) =>
  Effect.contextWith((built: Context.Context<never>) => {
    const changes = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
    const ofClient = limitsOf({ ...Context.get(built, RetryPolicy), ...changes })
    const atBuild = Context.getOrUndefined(built, RetryPolicy)
    return Effect.succeed((call: Context.Context<never>): RetryLimits => {
      const around = Context.getOrUndefined(call, RetryPolicy)
      return around === undefined || around === atBuild ? ofClient : limitsOf(around)
    })
  })

const costs = { transient: 14, throttled: 5 } as const

/** A bucket of 500 tokens for the retries of a client, so that callers do not make an outage worse. */
export class RetryBudget {
  static readonly #capacity = 500
  #left = RetryBudget.#capacity

  get left(): number {
    return this.#left
  }

  /** Takes the cost of a retry and returns it; 0 if the bucket holds less. */
  take(kind: keyof typeof costs): number {
    const cost = this.#left < costs[kind] ? 0 : costs[kind]
    this.#left -= cost
    return cost
  }

  /** Gives back the cost of a call's last retry, or one token without a retry. */
  giveBack(taken: number): void {
    this.#left = Math.min(RetryBudget.#capacity, this.#left + Math.max(taken, 1))
  }
}

/** Whether the row of an operation allows another attempt after a failure. */
const mayRepeat = (row: RetryRow, failure: Failure<unknown>, isKeyHonoured: boolean): boolean => {
  switch (failure.evidence) {
    case "NotSent":
      return true
    case "NotProcessed":
      return row.notProcessed === "always" || failure.throttled === true
    case "Ambiguous":
      return row.ambiguous === "always" || (row.ambiguous === "keyed" && isKeyHonoured)
    case "Permanent":
      return false
  }
}

/** The random, growing wait after an attempt, on top of Retry-After; `undefined` if that is too long. */
export const waitAfter = (
  policy: RetryLimits,
  { retryAfter = Duration.zero, throttled = false }: Failure<unknown>,
  attempts: number
): Effect.Effect<Duration.Duration | undefined> =>
  Effect.map(Random.next, (random) => {
    if (Duration.isGreaterThan(retryAfter, policy.longestRetryAfter)) return undefined
    const base = Duration.times(throttled ? policy.throttledBase : policy.base, 2 ** (attempts - 1))
    return Duration.sum(retryAfter, Duration.times(Duration.min(policy.longestWait, base), random))
  })

/** The context of an attempt. */
export interface Attempt {
  /** Counted from 1. */
  readonly number: number
  /** Whether an earlier attempt may have been carried out. */
  readonly afterAmbiguous: boolean
}

/** Runs the attempts of a call. */
export const withRetries = <A, E extends { readonly _tag: string }>(options: {
  readonly operation: string
  readonly row: RetryRow
  readonly budget: RetryBudget
  readonly policyOf: (call: Context.Context<never>) => RetryLimits
  readonly isKeyHonoured: () => boolean
  readonly canRepeatBody: () => boolean
  /** The context of the attempts of a call. */
  readonly attemptContext: (call: Context.Context<never>) => Context.Context<never>
  readonly attempt: (attempt: Attempt) => Effect.Effect<A, Failure<E>>
}): Effect.Effect<A, Failure<E>> =>
  Effect.withFiber((fiber) => {
    const { attempt, attemptContext, budget, canRepeatBody, isKeyHonoured, operation, policyOf, row } = options
    const policy = policyOf(fiber.context)
    const clock = fiber.getRef(Clock.Clock)
    const started = clock.monotonicTimeNanosUnsafe()
    const timedOut = (after: Duration.Duration, { receivedBytes, sent }: RequestPhase): Failure<never> => {
      const received = receivedBytes === undefined ? {} : { receivedBytes }
      const reason = new TimedOut({ after: Duration.toSeconds(after), ...received })
      // Only some transports know that nothing was sent.
      return failureOf(operation, sent === false ? "NotSent" : "Ambiguous", reason)
    }
    const left = () => {
      const passed = Number((clock.monotonicTimeNanosUnsafe() - started) / 1_000_000n)
      return Duration.millis(Math.max(0, Duration.toMillis(policy.totalTimeout) - passed))
    }

    const again = (current: Attempt, failure: Failure<E>) =>
      Effect.gen(function* () {
        const afterAmbiguous = current.afterAmbiguous || failure.evidence === "Ambiguous"
        // A later failure does not settle what an ambiguous attempt did.
        const isOpen = afterAmbiguous && failure.settles !== true
        const last = Effect.fail<Failure<E>>(isOpen ? { ...failure, evidence: "Ambiguous" } : failure)
        if (
          current.number >= policy.attempts ||
          !canRepeatBody() ||
          !mayRepeat(row, failure, policy.assumeIdempotencyKey || isKeyHonoured())
        ) {
          return yield* last
        }
        const wait = yield* waitAfter(policy, failure, current.number)
        if (wait === undefined || Duration.isGreaterThanOrEqualTo(wait, left())) return yield* last
        const cost = budget.take(failure.throttled === true ? "throttled" : "transient")
        if (cost === 0) return yield* last
        yield* Effect.logDebug(
          `${operation} is sent again in ${Math.round(Duration.toMillis(wait))} ms, attempt ` +
            `${current.number + 1} of ${policy.attempts}: ${tagOf(failure.error)}`
        )
        yield* waited(operation, wait)
        yield* budgetLeft(budget.left)
        yield* Effect.sleep(wait)
        yield* retryCount(operation)
        return yield* run({ number: current.number + 1, afterAmbiguous }, cost)
      })
    const run = (current: Attempt, taken: number): Effect.Effect<A, Failure<E>> =>
      Effect.suspend(() => {
        const rest = current.number === 1 ? policy.totalTimeout : left()
        // The error names the whole time that was set, not the rest of it.
        const [bound, limit] = Duration.isLessThan(rest, policy.attemptTimeout)
          ? [rest, policy.totalTimeout]
          : [policy.attemptTimeout, policy.attemptTimeout]
        const phase: RequestPhase = { sent: undefined, receivedBytes: undefined }
        const inContext = (call: Context.Context<never>) =>
          Context.add(attemptContext(call), CurrentRequestPhase, phase)
        const limited = Effect.updateContext(attempt(current), inContext).pipe(
          Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.fail(timedOut(limit, phase)) })
        )
        return Effect.matchEffect(limited, {
          onFailure: (failure) => again(current, failure),
          onSuccess: (value) => {
            budget.giveBack(taken)
            return Effect.succeed(value)
          }
        })
      })
    return run({ number: 1, afterAmbiguous: false }, 0)
  })
