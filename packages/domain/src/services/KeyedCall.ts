/** Calls that carry an idempotency key of the caller's own. (docs/decisions/retries.md) */
import { Context, Effect, Schema } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { TaggedError } from "../errors/TaggedError.ts"

/** The options of a call that can be made again without doing it twice. */
export interface KeyedCall {
  /**
   * The caller's own name for this one call, 1 to 255 visible ASCII characters. The same call with the same key is carried
   * out once; made again within an hour, it returns the first result. (default: a new key for each call)
   */
  readonly idempotencyKey?: string | undefined
}

/** The maximum length of an idempotency key. */
export const maximumIdempotencyKey = 255

const visible = /^[\x21-\x7e]+$/

const issueOfKey = `it has 1 to ${maximumIdempotencyKey} visible ASCII characters`

/** Whether a text can be an idempotency key. */
export const isIdempotencyKey = (key: string): boolean => key.length <= maximumIdempotencyKey && visible.test(key)

/** Checks the key of a call, with the same message on every layer. */
export const checkIdempotencyKey = (key: unknown): Effect.Effect<void, InvalidInput> =>
  key === undefined || (typeof key === "string" && isIdempotencyKey(key))
    ? Effect.void
    : Effect.fail(new InvalidInput({ field: "idempotencyKey", issue: issueOfKey }))

/** The idempotency key was used for another call. */
export class IdempotencyKeyReused extends TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {}) {
  override get message(): string {
    return (
      "This idempotency key was used for another call. Each call has a key of its own, and only exactly the same call " +
      "has the same key."
    )
  }
}

/**
 * Another caller makes the same call with the same idempotency key at this time, or made it a moment ago, and its answer has
 * a secret that a repetition would replace.
 */
export class IdempotencyKeyInUse extends TaggedError<IdempotencyKeyInUse>()("IdempotencyKeyInUse", {
  /** After how many seconds the same call is taken for a repetition of the other one. */
  retryAfter: Schema.Finite
}) {
  override get message(): string {
    return (
      "Another call has this idempotency key at this time, and its caller gets the secret. If that caller is no more, " +
      `make the call again in ${this.retryAfter} s: it gets another secret in place of that one.`
    )
  }
}

/**
 * The name of the current call, the same on each of its attempts (default: a new one for each call). A program that makes a
 * call again, since its answer was lost, gives both one name: a service takes the second one for a repetition at once, and
 * not for that of another caller.
 */
export const CallName = Context.Reference<string | undefined>("@roster/domain/CallName", {
  defaultValue: () => undefined
})

/** A call that has no idempotency key of the caller's own, which so was not used for another one. */
export const withoutOwnKey = <A, E, R>(call: Effect.Effect<A, E | IdempotencyKeyReused, R>): Effect.Effect<A, E, R> =>
  Effect.catchIf(call, (error): error is IdempotencyKeyReused => error instanceof IdempotencyKeyReused, Effect.die)
