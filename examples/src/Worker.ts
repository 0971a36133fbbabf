/**
 * A form for a newsletter as a Worker: what runs where there is `fetch` and no Node, such as at the edge of a network. It
 * uses the services over HTTP, by the `fetch` of the platform.
 */
import { ContactsService } from "@roster/domain"
import { FetchTransport, RosterClient } from "@roster/http-client"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"

/** The settings of the Worker. */
export interface Env {
  readonly ROSTER_BASE_URL: string
  readonly ROSTER_API_KEY: string
}

const servicesOf = ({ ROSTER_API_KEY, ROSTER_BASE_URL }: Env) =>
  ManagedRuntime.make(
    RosterClient.layer({ baseUrl: ROSTER_BASE_URL, apiKey: Redacted.make(ROSTER_API_KEY) }).pipe(
      Layer.provide(FetchTransport.layer())
    )
  )

let services: ReturnType<typeof servicesOf> | undefined

const subscribe = Effect.fnUntraced(function* (email: string) {
  const contacts = yield* ContactsService
  yield* contacts.add([{ email }], { listNames: ["newsletter"] })
})

export default {
  fetch: async (request: Request, env: Env): Promise<Response> => {
    if (request.method !== "POST")
      return new Response("Send your address.", { status: 405, headers: { allow: "POST" } })
    services ??= servicesOf(env)
    return services.runPromise(
      subscribe(await request.text()).pipe(
        Effect.as(new Response("Welcome.")),
        Effect.catchTags({
          InvalidInput: ({ issue }) => Effect.succeed(new Response(issue, { status: 400 })),
          TooManyContacts: Effect.die,
          ServiceError: ({ reason }) =>
            Effect.as(Effect.logError(reason.message), new Response("Try again later.", { status: 503 }))
        })
      ),
      { signal: request.signal }
    )
  }
}
