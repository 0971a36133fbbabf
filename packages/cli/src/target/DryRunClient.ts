/** The HTTP client of `--dry-run`: it sends requests that only read, and ends the command at the first other one. */
import { Effect } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { type DryRunRequest, endDryRun } from "../terminal/DryRun.ts"
import { Output } from "../terminal/Output.ts"
import * as Results from "../terminal/Results.ts"

/** Whether a request changes something. An export does not, though it is a POST. */
const changes = ({ method, url }: HttpClientRequest.HttpClientRequest): boolean =>
  method !== "GET" && !new URL(url).pathname.endsWith("/contacts/export")

const bodyText = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body._tag === "Empty" ? "" : "(a file)"

/** Wraps a client. */
export const dryRunClient = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (answer, request) =>
    changes(request) ? endDryRun(request.method, request.url, bodyText(request)) : answer
  )

/** Shows the request that was not sent, without headers, since one of them is the key. */
export const showRequest = Effect.fnUntraced(function* ({ body, method, url }: DryRunRequest) {
  yield* Results.summary({ dryRun: true, method, url, body }, `${method} ${url}${body === "" ? "" : `\n${body}`}`)
  yield* (yield* Output).note("Nothing was changed.")
})
