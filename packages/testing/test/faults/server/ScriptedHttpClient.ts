/**
 * An `HttpClient` without sockets for tests of time: it answers from a list, and records every request with the time of
 * the TestClock.
 */
import { Clock, Effect, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { type Answer, bytesOf } from "./FaultScript.ts"

/** The outcome of a request: a response, a transport error with its code, or silence. */
export type ScriptedAnswer = Answer | { readonly code: string; readonly syscall?: string | undefined } | "silence"

export interface ScriptedRequest {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
  /** Milliseconds of the clock. */
  readonly at: number
}

export interface ScriptedHttpClient {
  readonly layer: Layer.Layer<HttpClient.HttpClient>
  readonly requests: ReadonlyArray<ScriptedRequest>
}

/** Answers by the number of the request (the last answer repeats) or by the request. */
export const scriptedHttpClient = (
  answers: ReadonlyArray<ScriptedAnswer> | ((request: ScriptedRequest, number: number) => ScriptedAnswer)
): ScriptedHttpClient => {
  const requests: Array<ScriptedRequest> = []
  const client = HttpClient.make(
    Effect.fnUntraced(function* (request, url) {
      const number = requests.length
      const arrived = {
        method: request.method,
        url: url.href,
        headers: { ...request.headers },
        body: request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "",
        at: yield* Clock.currentTimeMillis
      }
      requests.push(arrived)
      const answer =
        typeof answers === "function" ? answers(arrived, number) : (answers[number] ?? answers.at(-1) ?? "silence")
      if (answer === "silence") return yield* Effect.never
      if ("code" in answer) {
        const { code, syscall } = answer
        const cause = Object.assign(
          new Error(`${syscall ?? "read"} ${code}`),
          syscall === undefined ? { code } : { code, syscall }
        )
        return yield* new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, cause })
        })
      }
      const body = bytesOf(answer.body ?? "")
      const headers = new Headers(answer.headers)
      if (body.length > 0 && !headers.has("content-type")) headers.set("content-type", "application/json")
      // A copy, since a web response takes no view of a shared buffer.
      const web = new Response(body.length === 0 ? null : new Uint8Array(body), { status: answer.status, headers })
      return HttpClientResponse.fromWeb(request, web)
    })
  )
  return { layer: Layer.succeed(HttpClient.HttpClient, client), requests }
}
