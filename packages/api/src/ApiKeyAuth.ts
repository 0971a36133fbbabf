import type { AccessLevel } from "@roster/domain"
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import {
  Forbidden,
  InternalServerError,
  ServiceUnavailable,
  TooManyRequests,
  UnauthorizedRequest
} from "./WireError.ts"

/** The header with the API key. */
export const apiKeyHeader = "X-Service-ApiKey"

/** The name of the same header at the public service of this interface. Our server accepts both. */
export const elasticEmailApiKeyHeader = "X-ElasticEmail-ApiKey"

/** The annotation of an endpoint with its required access level, for the server, the client and the documentation. */
export class RequiredAccess extends Context.Service<RequiredAccess, AccessLevel>()("@roster/api/RequiredAccess") {}

/** Authenticates every request by its API key, before any other check. */
export class ApiKeyAuth extends HttpApiMiddleware.Service<ApiKeyAuth>()("@roster/api/ApiKeyAuth", {
  requiredForClient: true,
  security: { apiKey: HttpApiSecurity.apiKey({ key: apiKeyHeader }) },
  error: [UnauthorizedRequest, Forbidden, TooManyRequests, InternalServerError, ServiceUnavailable]
}) {}
