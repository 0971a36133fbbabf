/**
 * The operations on access credentials: from the contract to the service.
 */
import { CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import type { Handlers } from "./Routes.ts"
import { orWire } from "./WireErrors.ts"

export const securityHandlers = Effect.gen(function* () {
  const { apiKeys, smtp } = yield* CredentialsService
  const handlers: Handlers<"security"> = {
    securityApikeysGet: ({ query }) => orWire(apiKeys.list(query)),
    securityApikeysByNameGet: ({ params, query }) => orWire(apiKeys.get(params.name, query)),
    securityApikeysPost: ({ payload }) => orWire(apiKeys.create(payload)),
    securityApikeysByNamePut: ({ params, payload }) => orWire(apiKeys.update(params.name, payload)),
    securityApikeysByNameDelete: ({ params, query }) => orWire(apiKeys.delete(params.name, query)),
    securitySmtpGet: ({ query }) => orWire(smtp.list(query)),
    securitySmtpByNameGet: ({ params, query }) => orWire(smtp.get(params.name, query)),
    securitySmtpPost: ({ payload }) => orWire(smtp.create(payload)),
    securitySmtpByNamePut: ({ params, payload }) => orWire(smtp.update(params.name, payload)),
    securitySmtpByNameDelete: ({ params, query }) => orWire(smtp.delete(params.name, query))
  }
  return handlers
})
