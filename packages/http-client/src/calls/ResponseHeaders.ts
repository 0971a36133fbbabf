/** The headers of an answer that its error shows. Only listed ones: any other may hold a cookie, a token or an address. */
import { ServiceError } from "@roster/domain"
import type { HttpClientResponse } from "effect/http"
import { onOneLine, redactSecrets, type Secrets } from "./ResponseDecoding.ts"
import type { Failure } from "./ErrorClassification.ts"

/** The names of a request's id, the usual one first. */
const requestIds = ["x-request-id", "request-id", "x-correlation-id", "x-amzn-requestid", "cf-ray"]

const shown = [
  ...requestIds,
  "content-length",
  "content-type",
  "date",
  "ratelimit",
  "ratelimit-limit",
  "ratelimit-policy",
  "ratelimit-remaining",
  "ratelimit-reset",
  "retry-after",
  "server",
  "via",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset"
]

/** In UTF-16 units. */
const longestValue = 200

/** Adds the request id and the headers of the answer to a failure that has none yet. */
export const withResponseHeaders =
  (secrets: Secrets, { headers }: HttpClientResponse.HttpClientResponse) =>
  <E>(failure: Failure<E>): Failure<E> => {
    const { error } = failure
    if (!(error instanceof ServiceError) || error.responseHeaders !== undefined) return failure
    const responseHeaders = Object.fromEntries(
      shown.flatMap((name) => {
        const value = headers[name]
        return value === undefined ? [] : [[name, onOneLine(redactSecrets(secrets, value)).slice(0, longestValue)]]
      })
    )
    const id = requestIds.find((name) => responseHeaders[name] !== undefined)
    const requestId = id === undefined ? undefined : responseHeaders[id]
    const { operation, reason } = error
    return {
      ...failure,
      error: new ServiceError({ operation, reason, responseHeaders, ...(requestId === undefined ? {} : { requestId }) })
    }
  }
