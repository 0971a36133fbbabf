/** The header of the API key, as the middleware that every request passes. */
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

/** Authenticates every request by its API key, before any other check. */
export class ApiKeyAuth extends HttpApiMiddleware.Service<ApiKeyAuth>()("@roster/api/ApiKeyAuth", {
  requiredForClient: true,
  security: { apiKey: HttpApiSecurity.apiKey({ key: apiKeyHeader }) },
  error: [UnauthorizedRequest, Forbidden, TooManyRequests, InternalServerError, ServiceUnavailable]
}) {}
