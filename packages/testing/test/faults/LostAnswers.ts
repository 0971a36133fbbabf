/**
 * A service that carries requests out but whose responses get lost: how does a client treat writes that happened
 * without its knowing?
 */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"

/** A request that the service answered. */
export interface AnsweredRequest {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly status: number
  readonly answer: string
  readonly isLost: boolean
}

/**
 * Wraps a client and drops the responses that the predicate selects, by the request and the number of its kind before.
 */
export const lostAnswers = (isLost: (request: HttpClientRequest.HttpClientRequest, number: number) => boolean) => {
  const answered: Array<AnsweredRequest> = []
  const counts = new Map<string, number>()
  const layer = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.transform(
        client,
        Effect.fnUntraced(function* (answering, request) {
          const response = yield* answering
          const answer = yield* response.text
          const path = URL.parse(request.url)?.pathname ?? request.url
          const kind = `${request.method} ${path}`
          const number = counts.get(kind) ?? 0
          counts.set(kind, number + 1)
          const lost = isLost(request, number)
          answered.push({
            method: request.method,
            path,
            headers: { ...request.headers },
            status: response.status,
            answer,
            isLost: lost
          })
          if (lost) {
            const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" })
            return yield* new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({ request, cause })
            })
          }
          const body = answer === "" ? null : answer
          return HttpClientResponse.fromWeb(
            request,
            new Response(body, { status: response.status, headers: { ...response.headers } })
          )
        })
      )
    )
  )
  return { layer, answered }
}
