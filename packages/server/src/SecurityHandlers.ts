/**
 * The operations on access credentials: from the contract to the service.
 */
import { CredentialsService } from "@roster/domain"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServedApi } from "./ServedApi.ts"
import { orWire } from "./WireAnswer.ts"

/**
 * @internal
 */
export const SecurityHandlers = HttpApiBuilder.group(
  ServedApi,
  "security",
  Effect.fnUntraced(function* (handlers) {
    const { apiKeys, smtp } = yield* CredentialsService
    return handlers
      .handle("securityApikeysGet", ({ query }) => orWire(apiKeys.list(query)))
      .handle("securityApikeysByNameGet", ({ params, query }) => orWire(apiKeys.get(params.name, query)))
      .handle("securityApikeysPost", ({ payload }) => orWire(apiKeys.create(payload)))
      .handle("securityApikeysByNamePut", ({ params, payload }) => orWire(apiKeys.update(params.name, payload)))
      .handle("securityApikeysByNameDelete", ({ params, query }) => orWire(apiKeys.delete(params.name, query)))
      .handle("securitySmtpGet", ({ query }) => orWire(smtp.list(query)))
      .handle("securitySmtpByNameGet", ({ params, query }) => orWire(smtp.get(params.name, query)))
      .handle("securitySmtpPost", ({ payload }) => orWire(smtp.create(payload)))
      .handle("securitySmtpByNamePut", ({ params, payload }) => orWire(smtp.update(params.name, payload)))
      .handle("securitySmtpByNameDelete", ({ params, query }) => orWire(smtp.delete(params.name, query)))
  })
)
