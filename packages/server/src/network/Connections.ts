/** Bounds what connections cost: how many there are, and how long a client may keep one waiting. (docs/limits.md) */
import type { IpRange } from "@roster/domain"
import { Duration } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage, type Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Server as TlsServer, type TlsOptions, type TLSSocket } from "node:tls"
import { clientNetwork, isInRanges } from "./IpRanges.ts"
import type { UnreadLimits } from "./UnreadAnswers.ts"

/** Bounds of the connections of a service. Those of trusted proxies are not counted. */
export interface ConnectionLimits extends UnreadLimits {
  /** Maximum number of connections (default: 1024). */
  readonly total: number
  /** Maximum number of connections of one client: an IPv4 address, or a /64 network of IPv6 (default: 256). */
  readonly byAddress: number
  /** Maximum time for the handshake of TLS, and for the head of a request (default: 10 seconds). */
  readonly headTimeout: Duration.Duration
  /**
   * Maximum time for which a request waits for its client: for its body, and for the client to read the response
   * (default: 60 seconds). An import or a download may take longer, but not pause for so long.
   */
  readonly waitTimeout: Duration.Duration
  /** Maximum time for the file of an import, besides a second for each 256 KiB of its length (default: 10 minutes). */
  readonly uploadTimeout: Duration.Duration
  /** The same for one that does not announce its length (default: 2 hours). */
  readonly chunkedUploadTimeout: Duration.Duration
}

export const connectionLimits: ConnectionLimits = {
  total: 1024,
  byAddress: 256,
  headTimeout: Duration.seconds(10),
  waitTimeout: Duration.seconds(60),
  uploadTimeout: Duration.minutes(10),
  chunkedUploadTimeout: Duration.hours(2),
  unreadOfAccount: 64 * 1024 ** 2,
  unreadOfAll: 192 * 1024 ** 2
}

/** Node's own limit for a whole request is off, since it has no exceptions for imports and downloads. */
export const timeoutsOf = ({ headTimeout }: ConnectionLimits): ServerOptions & TlsOptions => ({
  requestTimeout: 0,
  handshakeTimeout: Duration.toMillis(headTimeout),
  headersTimeout: Duration.toMillis(headTimeout),
  connectionsCheckingInterval: Math.min(1000, Duration.toMillis(headTimeout) / 4),
  // No operation is an upgrade, and a connection would lose its timeouts by one.
  shouldUpgradeCallback: () => false
})

/** Since when requests send the file of an import. */
const uploads = new WeakMap<object, number>()

/** Lets the body of a request take longer as long as it keeps coming. */
export const allowSlowBody = ({ source }: HttpServerRequest.HttpServerRequest): void => {
  uploads.set(source, performance.now())
}

/** In bytes per millisecond. */
const slowestUpload = (256 * 1024) / 1000

/** Whether the time of an upload is not over. */
const mayUpload = (
  request: IncomingMessage,
  { chunkedUploadTimeout, uploadTimeout }: ConnectionLimits,
  now: number
): boolean => {
  const since = uploads.get(request)
  const announced = request.headers["content-length"]
  const most =
    announced === undefined
      ? Duration.toMillis(chunkedUploadTimeout)
      : Duration.toMillis(uploadTimeout) + Number(announced) / slowestUpload
  return since !== undefined && now - since < most
}

/** Requests on a connection that wait for the answers to those before them. */
const maximumWaiting = 16

interface Connection {
  /** The network of the client; `undefined` for a trusted proxy. */
  readonly client: string | undefined
  /** The response to the latest request that has begun. */
  response: ServerResponse<IncomingMessage> | undefined
  /** Whether that response has not ended. */
  isAnswering: boolean
  /** What begins the requests that came meanwhile. */
  readonly waiting: Array<() => void>
  /** When the connection was made, or its latest request began to wait for its client. */
  since: number
  /** The bytes that were sent and received by then. */
  bytes: number
}

const isBun = "bun" in process.versions

const errorBody = (text: string): string => JSON.stringify({ Error: text })

const busyBody = errorBody("There are too many connections. Send the request again later.")

const busy =
  "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Type: application/json\r\n" +
  `Content-Length: ${busyBody.length}\r\n\r\n${busyBody}`

const lateBody = errorBody("The request did not arrive in time. Nothing was done.")

/** Whether a connection waits for the head of a request. */
const isIdle = ({ response }: Connection): boolean =>
  response === undefined || response.writableFinished || response.destroyed

/** Whether the latest request waits for its client: for the body, or for the response to be read. */
const isClientsTurn = (socket: Socket, { req }: ServerResponse<IncomingMessage>): boolean =>
  !req.complete || socket.writableLength > 0

/** A file is sent as a stream, which ends when the client has read nearly all of it. */
const mayTakeLong = (
  { req, writableEnded }: ServerResponse<IncomingMessage>,
  limits: ConnectionLimits,
  now: number
): boolean => (req.complete ? !writableEnded : mayUpload(req, limits, now))

const endLate = (socket: Socket, response: ServerResponse<IncomingMessage>): void => {
  if (response.headersSent) {
    socket.destroy()
    return
  }
  const headers = { connection: "close", "content-type": "application/json", "content-length": lateBody.length }
  response.writeHead(408, headers).end(lateBody)
}

const remoteEndpoint = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/**
 * Applies the limits to a server. A connection beyond them takes the place of the one that has waited longest for the
 * head of a request; if all are in use, it is refused. Returns what closes those that wait, which Node does not do when
 * it closes a server.
 */
export const limitConnections = (
  server: Server,
  limits: ConnectionLimits,
  trusted: ReadonlyArray<IpRange>
): (() => void) => {
  const { byAddress, total, waitTimeout } = limits
  const connections = new Map<Socket, Connection>()
  const ofClients = new Map<string, number>()
  let counted = 0

  const count = (client: string | undefined, change: 1 | -1): void => {
    if (client === undefined) return
    counted += change
    const left = (ofClients.get(client) ?? 0) + change
    if (left === 0) ofClients.delete(client)
    else ofClients.set(client, left)
  }

  const forget = (socket: Socket): void => {
    const connection = connections.get(socket)
    if (connection === undefined) return
    connections.delete(socket)
    count(connection.client, -1)
  }

  const makeRoom = (mayEnd: (connection: Connection) => boolean): boolean => {
    let longest: Socket | undefined
    let since = Infinity
    for (const [socket, connection] of connections) {
      if (connection.client === undefined || connection.since >= since) continue
      if (!mayEnd(connection) || !isIdle(connection)) continue
      longest = socket
      since = connection.since
    }
    if (longest === undefined) return false
    forget(longest)
    longest.destroy()
    return true
  }

  const hasCapacity = (client: string): boolean =>
    ((ofClients.get(client) ?? 0) < byAddress || makeRoom((other) => other.client === client)) &&
    (counted < total || makeRoom(() => true))

  const track = (socket: Socket, connection: Connection): void => {
    connections.set(socket, connection)
    socket.once("close", () => forget(socket))
  }

  const [accept] = server.listeners("connection")
  if (accept === undefined) throw new Error("Node's HTTP server takes no connections.")
  server.removeAllListeners("connection")
  const isTls = server instanceof TlsServer
  // By the other end of the connection.
  const pendingHandshakes = new Map<string, Socket>()
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? ""
    const client = isInRanges(address, trusted) ? undefined : clientNetwork(address)
    if (client !== undefined && !hasCapacity(client)) {
      socket.on("error", () => {})
      if (!isTls) socket.write(busy)
      socket.destroySoon()
      return
    }
    track(socket, { client, response: undefined, isAnswering: false, waiting: [], since: performance.now(), bytes: 0 })
    count(client, 1)
    if (isTls) {
      const end = remoteEndpoint(socket)
      pendingHandshakes.set(end, socket)
      socket.once("close", () => {
        if (pendingHandshakes.get(end) === socket) pendingHandshakes.delete(end)
      })
    }
    Reflect.apply(accept, server, [socket])
  })
  // Requests come by another socket on the same connection.
  if (isTls) {
    server.on("secureConnection", (secure: TLSSocket) => {
      const end = remoteEndpoint(secure)
      const socket = pendingHandshakes.get(end)
      const connection = socket === undefined ? undefined : connections.get(socket)
      if (socket === undefined || connection === undefined) return
      pendingHandshakes.delete(end)
      connections.delete(socket)
      track(secure, connection)
    })
  }

  /** Begins a request when that before it on its connection has been answered. */
  const begin = (
    connection: Connection | undefined,
    request: IncomingMessage,
    response: ServerResponse<IncomingMessage>,
    go: () => void
  ): void => {
    // Node reports that a client went away only to who listens; Bun ends the process where nobody does.
    if (isBun) request.on("error", () => {})
    if (connection === undefined) return go()
    if (connection.isAnswering) {
      if (connection.waiting.push(() => begin(connection, request, response, go)) > maximumWaiting) {
        request.socket.destroy()
      }
      return
    }
    connection.response = response
    connection.since = performance.now()
    connection.isAnswering = true
    response.once("close", () => {
      connection.isAnswering = false
      const next = connection.waiting.shift()
      if (!request.socket.destroyed) next?.()
    })
    go()
  }
  const { emit } = server
  server.emit = (event: string | symbol, ...given: ReadonlyArray<unknown>): boolean => {
    const [request, response] = given
    const isRequest = event === "request" || event === "checkContinue"
    if (!isRequest || !(request instanceof IncomingMessage) || !(response instanceof ServerResponse))
      return Reflect.apply(emit, server, [event, ...given])
    begin(connections.get(request.socket), request, response, () => Reflect.apply(emit, server, [event, ...given]))
    return true
  }

  const limit = Duration.toMillis(waitTimeout)
  const endSlow = (): void => {
    const now = performance.now()
    for (const [socket, connection] of connections) {
      const { response } = connection
      if (response === undefined || (response.writableFinished && response.req.complete)) continue
      const bytes = socket.bytesRead + socket.bytesWritten
      if (!isClientsTurn(socket, response) || (mayTakeLong(response, limits, now) && bytes !== connection.bytes)) {
        connection.since = now
        connection.bytes = bytes
      } else if (now - connection.since >= limit) {
        endLate(socket, response)
      }
    }
  }
  server.once("listening", () => {
    const timer = setInterval(endSlow, limit / 4)
    server.once("close", () => clearInterval(timer))
  })
  return () => {
    for (const [socket, connection] of connections) if (isIdle(connection)) socket.destroy()
  }
}

const startingBody = JSON.stringify({ Error: "The service is starting. Send the request again later." })

/** Answers requests until a server has a handler, which is taken to be the next listener that it gets. */
export const answerWhileStarting = (server: Server): void => {
  const answer = (_: IncomingMessage, response: ServerResponse): void => {
    const headers = { connection: "close", "retry-after": "1", "content-type": "application/json" }
    response.writeHead(503, { ...headers, "content-length": startingBody.length }).end(startingBody)
  }
  const events = ["request", "checkContinue"]
  for (const event of events) server.on(event, answer)
  const leave = (event: string | symbol) => {
    if (typeof event === "string" && events.includes(event)) server.off(event, answer)
    if (events.every((event) => !server.listeners(event).includes(answer))) server.off("newListener", leave)
  }
  server.on("newListener", leave)
}
