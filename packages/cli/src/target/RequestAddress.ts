/** The whole address of a request, whose query is kept apart from it. */
import { Option } from "effect"
import { HttpClientRequest } from "effect/http"

/** A request without a valid address is never made: the settings are checked. */
export const addressOf = (request: HttpClientRequest.HttpClientRequest): URL =>
  Option.getOrElse(HttpClientRequest.toUrl(request), () => new URL(request.url))
