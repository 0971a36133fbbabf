/** Handles the operations on credentials. */
import { CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import type { Handlers } from "./Routes.ts"
import { toWireError } from "./WireErrors.ts"

export const credentialsHandlers = Effect.gen(function* () {
  const { apiKeys, smtp } = yield* CredentialsService
  const handlers: Handlers<"security"> = {
    securityApikeysGet: ({ query }) => toWireError(apiKeys.list(query)),
    securityApikeysByNameGet: ({ params, query }) => toWireError(apiKeys.get(params.name, query)),
    securityApikeysPost: ({ payload }) => toWireError(apiKeys.create(payload)),
    securityApikeysByNamePut: ({ params, payload }) => toWireError(apiKeys.update(params.name, payload)),
    securityApikeysByNameDelete: ({ params, query }) => toWireError(apiKeys.delete(params.name, query)),
    securitySmtpGet: ({ query }) => toWireError(smtp.list(query)),
    securitySmtpByNameGet: ({ params, query }) => toWireError(smtp.get(params.name, query)),
    securitySmtpPost: ({ payload }) => toWireError(smtp.create(payload)),
    securitySmtpByNamePut: ({ params, payload }) => toWireError(smtp.update(params.name, payload)),
    securitySmtpByNameDelete: ({ params, query }) => toWireError(smtp.delete(params.name, query))
  }
  return handlers
})
