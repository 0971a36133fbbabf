/**
 * Whether the service answers and still takes the key, as its last answers say: the page says so once. A network that comes back is
 * noticed by itself.
 */
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { Atom } from "effect/reactivity"

/** What the last answers say. */
export type Connection = "Answering" | "Away" | "KeyRefused"

/** The header with the key. */
export const keyHeader = "x-service-apikey"

/** What the last answers say, for the whole page. */
export const connection = Atom.keepAlive(Atom.make<Connection>("Answering"))

/** Whether a request has reached nobody since everything that is shown was read: it is read again soon, whatever is answered meanwhile. */
export const isBroken = Atom.keepAlive(Atom.make(false))

const reachedNobody = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.response === undefined

/** What the calls of a session are sent with, and who hears of their answers. */
export interface Line {
  /** Hears of each answer, and of each request that reached nobody. */
  readonly tell: (now: Connection) => void
  /** The key in place of that of the session, once a person has given another one. */
  readonly otherKey: () => Redacted.Redacted<string> | undefined
}

/**
 * Sends requests with the key that was given last, and tells of their answers. The services stay as they are, since what a person did
 * with them would be done again by new ones.
 */
export const layerLine = ({ otherKey, tell }: Line) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      client.pipe(
        HttpClient.mapRequest((request) => {
          const key = otherKey()
          // What is sent without a key, such as the link of an export, stays without one.
          return key === undefined || request.headers[keyHeader] === undefined
            ? request
            : HttpClientRequest.setHeader(request, keyHeader, Redacted.value(key))
        }),
        HttpClient.tap(({ status }) => Effect.sync(() => tell(status === 401 ? "KeyRefused" : "Answering"))),
        HttpClient.tapError((error) => Effect.sync(() => (reachedNobody(error) ? tell("Away") : undefined)))
      )
    )
  )

/** The key that a person gave in place of one that the service took no more. */
export const otherKey = Atom.keepAlive(Atom.make<Redacted.Redacted<string> | undefined>(undefined))

/** Waits until the service can be reached again, of which it looks every two seconds. Any answer will do. */
export const reachedAgain = Effect.tryPromise(() =>
  fetch("health/live", { cache: "no-store", credentials: "omit" })
).pipe(Effect.delay("2 seconds"), Effect.retry({ times: Infinity }), Effect.asVoid)
