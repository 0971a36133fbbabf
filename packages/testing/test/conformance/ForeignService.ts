/** Our service as another one would be: without what only Roster has, and without the headers that announce it. */
import { announcements, operations, storeHeader } from "@roster/api"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

/** The answer of a service that has no such path. */
export const noSuchPath = () =>
  new Response('{"Error":"no"}', { status: 404, headers: { "content-type": "application/json" } })

const ownPaths = Array.from(operations.values()).flatMap(({ announcedBy, path }) =>
  announcedBy ? [new RegExp(`${path.replaceAll(/:\w+/g, "[^/]+")}$`)] : []
)

/** The `HttpClient` of a service without the operations of our own, which gives `answer` to them and notes what it is asked. */
export const foreignHttpClient = (answer: () => Response, asked: Array<string> = []) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.make((request, url) => {
        asked.push(`${request.method} ${url.pathname}`)
        if (ownPaths.some((path) => path.test(url.pathname))) {
          return Effect.succeed(HttpClientResponse.fromWeb(request, answer()))
        }
        return Effect.flatMap(client.execute(request), (response) =>
          Effect.map(Effect.orDie(response.arrayBuffer), (body) => {
            const headers = new Headers(response.headers)
            for (const name of [...announcements.map(({ name }) => name), storeHeader]) headers.delete(name)
            const content = body.byteLength === 0 ? null : body
            return HttpClientResponse.fromWeb(request, new Response(content, { status: response.status, headers }))
          })
        )
      })
    )
  ).pipe(Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:" })))

/** The services of such a one. */
export const foreign = (answer: () => Response, asked?: Array<string>) =>
  RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(Layer.provide(foreignHttpClient(answer, asked)))
