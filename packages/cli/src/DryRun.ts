/**
 * What `--dry-run` does: everything up to the first request that would change something, which is shown and not sent.
 */
import { Data, Effect, Layer } from "effect"
import { Flag } from "effect/cli"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { Output } from "./Output.ts"
import * as Results from "./Results.ts"

/**
 * @category flags
 * @since 0.1.0
 */
export const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withoutNegation,
  Flag.withAlias("n"),
  Flag.withDescription("Check everything, show what would be sent, and send nothing"),
  Flag.withDefault(false)
)

/**
 * Ends a command where it would have changed something: no failure, and nothing that a command could go on from.
 *
 * @category errors
 * @since 0.1.0
 */
export class Rehearsed extends Data.TaggedError("Rehearsed")<{
  readonly method: string
  readonly url: string
  readonly body: string
}> {}

/**
 * The same for what is done without a request.
 *
 * @category programs
 * @since 0.1.0
 */
export const rehearsed = (method: string, url: string, body: string): Effect.Effect<never> =>
  Effect.die(new Rehearsed({ method, url, body }))

/** An export changes nothing, though it is asked for by POST. */
const changes = ({ method, url }: HttpClientRequest.HttpClientRequest): boolean =>
  method !== "GET" && !new URL(url).pathname.endsWith("/contacts/export")

const bodyText = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body._tag === "Empty" ? "" : "(a file)"

/**
 * A client that sends what reads.
 *
 * @category layers
 * @since 0.1.0
 */
export const rehearsing: Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transform((answer, request) =>
      changes(request) ? rehearsed(request.method, request.url, bodyText(request)) : answer
    )
  )
)

/**
 * Shows the request that was not sent. Headers are not shown: one of them is the key.
 *
 * @category printing
 * @since 0.1.0
 */
export const showRehearsed = Effect.fnUntraced(function* ({ body, method, url }: Rehearsed) {
  yield* Results.summary({ dryRun: true, method, url, body }, `${method} ${url}${body === "" ? "" : `\n${body}`}`)
  yield* (yield* Output).note("Nothing was changed.")
})
