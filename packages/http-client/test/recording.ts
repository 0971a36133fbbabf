import { Effect, Layer } from "effect"
import { HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"

/** A transport that records its requests, and answers with an empty list. */
export const recording = (status = 200) => {
  const sent: Array<HttpClientRequest.HttpClientRequest> = []
  const client = HttpClient.make((request) => {
    sent.push(request)
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json([], { status })))
  })
  return { sent, layer: Layer.succeed(HttpClient.HttpClient, client) }
}
