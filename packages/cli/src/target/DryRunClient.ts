/**
 * What `--dry-run` does: everything up to the first request that would change something, which is shown and not sent.
 */
import { Effect, Layer } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { type DryRunRequest, rehearsed } from "../terminal/DryRun.ts"
import { Output } from "../terminal/Output.ts"
import * as Results from "../terminal/Results.ts"

/** An export changes nothing, though it is asked for by POST. */
const changes = ({ method, url }: HttpClientRequest.HttpClientRequest): boolean =>
  method !== "GET" && !new URL(url).pathname.endsWith("/contacts/export")

const bodyText = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body._tag === "Empty" ? "" : "(a file)"

/** A client that sends what reads. */
export const dryRunClient: Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transform((answer, request) =>
      changes(request) ? rehearsed(request.method, request.url, bodyText(request)) : answer
    )
  )
)

/** Shows the request that was not sent. Headers are not shown: one of them is the key. */
export const showRequest = Effect.fnUntraced(function* ({ body, method, url }: DryRunRequest) {
  yield* Results.summary({ dryRun: true, method, url, body }, `${method} ${url}${body === "" ? "" : `\n${body}`}`)
  yield* (yield* Output).note("Nothing was changed.")
})
