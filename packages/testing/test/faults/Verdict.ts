/** Asserts how a trial ended: with a typed failure of the expected tag and no defect. */
import { assert } from "@effect/vitest"
import { ServiceError, type ServiceErrorReason } from "@roster/domain"
import { Cause, Exit, Option, Predicate } from "effect"
import type { OperationFailure } from "./EveryOperation.ts"

interface Ended {
  readonly exit: Exit.Exit<unknown, OperationFailure>
}

/** Asserts success. */
export const succeeded = ({ exit }: Ended, about = ""): void => {
  if (Exit.isFailure(exit)) assert.fail(`${about}: it failed, where success was expected: ${Cause.pretty(exit.cause)}`)
}

/** The failure, which must be typed. */
export const failure = ({ exit }: Ended, about = ""): OperationFailure => {
  if (Exit.isSuccess(exit)) return assert.fail(`${about}: it succeeded, where a failure was expected`)
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  if (error === undefined)
    return assert.fail(
      `${about}: a defect or an interruption, where a typed failure was expected: ${Cause.pretty(exit.cause)}`
    )
  return error
}

/** The reason of a `ServiceError`, which must have one of the given tags. */
export const reason = <const Tag extends ServiceErrorReason["_tag"]>(
  ended: Ended,
  tags: Tag | ReadonlyArray<Tag>,
  about = ""
): ServiceErrorReason & { readonly _tag: Tag } => {
  const error = failure(ended, about)
  if (!(error instanceof ServiceError))
    return assert.fail(`${about}: ${error._tag} (${error.message}), where a ServiceError was expected`)
  const allowed: ReadonlyArray<Tag> = typeof tags === "string" ? [tags] : tags
  for (const tag of allowed) if (Predicate.isTagged(error.reason, tag)) return error.reason
  return assert.fail(`${about}: ${error.reason._tag} (${error.message}), where ${allowed.join(" or ")} was expected`)
}

/** Asserts a failure that the caller can act on, by its tag. */
export const refusedAs = (ended: Ended, tag: string, about = ""): OperationFailure => {
  const error = failure(ended, about)
  assert.strictEqual(error._tag, tag, `${about}: ${error.message}`)
  return error
}
