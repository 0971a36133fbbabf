/** Our service as another one would be: without what only Roster has, and without the headers that announce it. */
import { announcements, operations, resubscribeHeader, storeHeader } from "@roster/api"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

/** The answer of a service that has no such path. */
export const noSuchPath = () =>
  new Response('{"Error":"no"}', { status: 404, headers: { "content-type": "application/json" } })

const ownPaths = Array.from(operations.values()).flatMap(({ announcedBy, path }) =>
  announcedBy ? [new RegExp(`${path.replaceAll(/:\w+/g, "[^/]+")}$`)] : []
)

/** Makes a service one that does not know some words: its answers do not announce them, and it hears no Roster-Resubscribe. */
export const unannounced = (words: ReadonlyArray<string>) => (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.mapRequest(HttpClientRequest.removeHeader(resubscribeHeader)),
    HttpClient.transformResponse(
      Effect.flatMap((response) =>
        Effect.map(Effect.orDie(response.arrayBuffer), (body) => {
          const headers = new Headers(response.headers)
          for (const word of words) headers.delete(word)
          const content = body.byteLength === 0 ? null : body
          return HttpClientResponse.fromWeb(
            response.request,
            new Response(content, { status: response.status, headers })
          )
        })
      )
    )
  )

/** The `HttpClient` of a service without the operations of our own, which gives `answer` to them and notes what it is asked. */
export const foreignHttpClient = (answer: () => Response, asked: Array<string> = []) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) => {
      const other = unannounced([...announcements.map(({ name }) => name), storeHeader])(client)
      return HttpClient.make((request, url) => {
        asked.push(`${request.method} ${url.pathname}`)
        return ownPaths.some((path) => path.test(url.pathname))
          ? Effect.succeed(HttpClientResponse.fromWeb(request, answer()))
          : other.execute(request)
      })
    })
  ).pipe(Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:" })))

/** The services of such a one. */
export const foreign = (answer: () => Response, asked?: Array<string>) =>
  RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(Layer.provide(foreignHttpClient(answer, asked)))
