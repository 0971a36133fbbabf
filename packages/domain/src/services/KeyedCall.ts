/** Calls that carry an idempotency key of the caller's own. (docs/decisions/retries.md) */
import { Effect } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"

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

const issueOfUsed = "it was used for another call; the same key repeats exactly the same call"

/** Makes the error for a key that belongs to another call, the same on every layer. */
export const usedIdempotencyKey = (): InvalidInput => new InvalidInput({ field: "idempotencyKey", issue: issueOfUsed })

/** Whether an error says that a key belongs to another call. */
export const isUsedIdempotencyKey = (error: unknown): error is InvalidInput =>
  error instanceof InvalidInput && error.issue === issueOfUsed
