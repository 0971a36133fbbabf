/**
 * Mail sending: from the contract to the service.
 */
import { EmailsService } from "@roster/domain"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServedApi } from "./ServedApi.ts"
import { orWire } from "./WireAnswer.ts"

/**
 * @internal
 */
export const EmailsHandlers = HttpApiBuilder.group(
  ServedApi,
  "emails",
  Effect.fnUntraced(function* (handlers) {
    const emails = yield* EmailsService
    return handlers.handle("emailsPost", ({ payload }) => orWire(emails.send(payload)))
  })
)
