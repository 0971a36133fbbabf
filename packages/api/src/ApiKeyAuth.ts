/**
 * The key that every operation requires, and the access level that each of them requires of it.
 * (Service interface, Authentication.)
 */
import type { AccessLevel } from "@roster/domain"
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { Forbidden, KeyRefused, ServerFailure, ServerUnavailable, TooManyRequests } from "./WireError.ts"

/** The header that carries the key. */
export const apiKeyHeader = "X-Service-ApiKey"

/** The name that the public service of this interface gives to the same header. Our server accepts both. */
export const elasticEmailApiKeyHeader = "X-ElasticEmail-ApiKey"

/**
 * The access level of an operation: an annotation of its endpoint, read by the server, the client and the documentation.
 */
export class RequiredAccess extends Context.Service<RequiredAccess, AccessLevel>()("@roster/api/RequiredAccess") {}

/** Stands before every operation: a request whose key is refused gets no further, whatever else is wrong with it. */
export class ApiKeyAuth extends HttpApiMiddleware.Service<ApiKeyAuth>()("@roster/api/ApiKeyAuth", {
  requiredForClient: true,
  security: { apiKey: HttpApiSecurity.apiKey({ key: apiKeyHeader }) },
  error: [KeyRefused, Forbidden, TooManyRequests, ServerFailure, ServerUnavailable]
}) {}
