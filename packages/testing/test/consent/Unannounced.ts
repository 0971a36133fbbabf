/** A service of ours as one that announces less: the client hears no such word, and the service gets no Roster-Resubscribe. */
import { Effect } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

/** Takes words out of the headers of a service's answers. What it lacks is answered 404. */
export const unannounced = (words: ReadonlyArray<string>, lacks?: RegExp) => (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.mapRequest(HttpClientRequest.removeHeader("roster-resubscribe")),
    HttpClient.transformResponse(
      Effect.flatMap((response) =>
        Effect.map(response.text, (body) => {
          const headers = new Headers({ ...response.headers })
          for (const word of words) headers.delete(word)
          const answer =
            lacks?.test(response.request.url) === true
              ? new Response('{"Error":"Not found"}', { status: 404 })
              : new Response(body, { status: response.status, headers })
          return HttpClientResponse.fromWeb(response.request, answer)
        })
      )
    )
  )
