/** Handles the sending of mail. */
import { EmailsService } from "@roster/domain"
import { Effect } from "effect"
import type { Handlers } from "./Routes.ts"
import { toWireError } from "./WireErrors.ts"

export const emailsHandlers = Effect.gen(function* () {
  const emails = yield* EmailsService
  const handlers: Handlers<"emails"> = {
    emailsPost: ({ payload }) => toWireError(emails.send(payload))
  }
  return handlers
})
