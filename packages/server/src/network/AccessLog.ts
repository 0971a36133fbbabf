/**
 * The access log: an entry for each response. It names the route and not the path, so that it holds no e-mail address,
 * no name, no query and no key.
 */
import { Context, DateTime } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** An entry of the access log. */
export interface AccessEntry {
  /** The time at which the head of the request had arrived, as ISO 8601 in UTC. */
  readonly time: string
  /** Identifies the request. The response to an internal error names it too. */
  readonly id: string
  /** The HTTP method. */
  readonly method: string
  /** The path with the names of its parameters, such as `/v4/contacts/{email}`; `null` for an unknown path. */
  readonly route: string | null
  /** `null` if the connection ended before the response. */
  readonly status: number | null
  /** Milliseconds from the head of the request to the end of the response. */
  readonly duration: number
  /** Bytes that were sent. */
  readonly bytes: number
  /** The address of the client. */
  readonly peer: string
  /** The beginning and the end of the key, as the audit trail shows it; `null` for a request without a known key. */
  readonly key: string | null
}

/** What the service finds out about a request while it answers. */
type Facts = Partial<Pick<AccessEntry, "route" | "peer" | "key">>

interface Begun extends Facts {
  readonly id: string
}

/** The access log of a service. */
export interface AccessLog {
  /** Writes an entry for each response of a server. */
  readonly attach: (server: Server) => void
  /** Adds facts to the entry of a request. */
  readonly note: (request: HttpServerRequest.HttpServerRequest, facts: Facts) => void
  /** The id of a request. */
  readonly idOf: (request: HttpServerRequest.HttpServerRequest) => string | undefined
}

/** The access log (default: none). A reference, since each stage of a request adds what it learns. */
export const AccessLog = Context.Reference<AccessLog | undefined>("@roster/server/AccessLog", {
  defaultValue: () => undefined
})

/** The route of a path with parameters as the router writes them. */
export const routeOf = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}")

const tenths = (millis: number): number => Math.round(millis * 10) / 10

/** Makes an access log that gives each entry to a function. */
export const makeAccessLog = (write: (entry: AccessEntry) => void): AccessLog => {
  const requests = new WeakMap<object, Begun>()

  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    // oxlint-disable-next-line eslint/no-restricted-globals -- of a request that came by a socket
    const begun: Begun = { id: crypto.randomUUID(), peer: socket.remoteAddress ?? "" }
    const since = performance.now()
    const sentBefore = socket.bytesWritten
    // oxlint-disable-next-line eslint/no-restricted-properties -- logs are of this machine
    const time = DateTime.formatIso(DateTime.nowUnsafe())
    requests.set(request, begun)
    response.once("close", () => {
      const { id, key = null, peer = "", route = null } = requests.get(request) ?? begun
      write({
        time,
        id,
        method: request.method ?? "",
        route,
        status: response.headersSent ? response.statusCode : null,
        duration: tenths(performance.now() - since),
        bytes: socket.bytesWritten - sentBefore,
        peer,
        key
      })
    })
  }

  return {
    attach: (server) => {
      server.on("request", begin)
      server.on("checkContinue", begin)
    },
    note: ({ source }, facts) => {
      const begun = requests.get(source)
      if (begun !== undefined) requests.set(source, { ...begun, ...facts })
    },
    idOf: ({ source }) => requests.get(source)?.id
  }
}
