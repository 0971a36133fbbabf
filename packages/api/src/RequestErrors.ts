/**
 * What any operation may answer besides its own refusals.
 */
import { HttpApiMiddleware } from "effect/http-api"
import { BadRequest, ServerFailure, ServerUnavailable } from "./WireError.ts"

export class RequestErrors extends HttpApiMiddleware.Service<RequestErrors>()("@roster/api/RequestErrors", {
  error: [BadRequest, ServerFailure, ServerUnavailable]
}) {}
