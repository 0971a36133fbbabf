/**
 * A write that was answered in a way that nobody can read: it may have been carried out, whatever is wrong with the answer.
 */
import type { ServiceError } from "@roster/domain"
import { Effect } from "effect"
import { type Failure, exitInfo } from "./ExitCode.ts"
import { ResumeHint } from "../terminal/ResumeHint.ts"

const isUnread = ({ mayHaveHappened, reason }: ServiceError): boolean => {
  // Its own message says already how to find out.
  if (!mayHaveHappened || reason._tag === "OutcomeUnknown") return false
  // Whoever answers so has refused the request.
  return !("status" in reason && reason.status >= 400 && reason.status < 500)
}

const isWrite = (operation: string) =>
  Effect.map(
    Effect.promise(() => import("@roster/api/Operation")),
    ({ operations }) => operations.get(operation)?.method !== "GET"
  )

/**
 * The hint of a failure: after a write whose answer cannot be read, it says first that it may have been carried out, and
 * names the command that tells where there is one.
 */
export const hintOf = Effect.fnUntraced(function* (failure: Failure) {
  const { hint } = exitInfo(failure)
  if (failure._tag !== "ServiceError" || !isUnread(failure) || !(yield* isWrite(failure.operation))) return hint
  const { look } = yield* ResumeHint
  const caution =
    look === undefined
      ? "It may have been carried out: check before you repeat it."
      : `It may have been carried out: check with ${look} before you repeat it (the secret is lost: delete the credential and create it again).`
  // Less cannot be asked for where something is written.
  return failure.reason._tag === "ResponseTooLarge" ? caution : `${caution} ${hint}`
})
