/** Bounds what connections cost: how many there are, and how long a client may keep one waiting. (docs/limits.md) */
import type { IpRange } from "@roster/domain"
import { Duration } from "effect"
import { readFileSync } from "node:fs"
import { IncomingMessage, type Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Server as TlsServer, type TlsOptions, type TLSSocket } from "node:tls"
import type { WatchedBound } from "../threads/LastingRefusals.ts"
import { mainAccount } from "../threads/Quota.ts"
import { clientNetwork, isInRanges } from "./IpRanges.ts"
import { type Carrier, open, openRequest, type OpenRequest } from "./OpenRequests.ts"
import type { UnreadLimits } from "./UnreadAnswers.ts"

/** Bounds of the connections of a service. Those of trusted proxies count for accounts alone. */
export interface ConnectionLimits extends UnreadLimits {
  /** Maximum number of connections (default: 1024, or as many as the descriptors of the process are enough for). */
  readonly total: number
  /** Maximum number of connections of one client: an IPv4 address, or a /64 network of IPv6 (default: 256). */
  readonly byAddress: number
  /** Maximum number of requests of one account at work at one time (default: a quarter of the total). */
  readonly byAccount: number
  /** Maximum time for the handshake of TLS, and for the head of a request (default: 10 seconds). */
  readonly headTimeout: Duration.Duration
  /**
   * Maximum time for which a request waits for its client: for its body, and for the client to read the response
   * (default: 60 seconds). An import or a download may take longer, but not pause for so long.
   */
  readonly waitTimeout: Duration.Duration
  /** Maximum time for the file of an import, besides a second for each 256 KiB of its length (default: 10 minutes). */
  readonly uploadTimeout: Duration.Duration
  /** Maximum time for the file of an import that does not announce its length (default: 2 hours). */
  readonly chunkedUploadTimeout: Duration.Duration
  /** Time for which a bound of all accounts refuses everything, before the log and readiness say so (default: a minute). */
  readonly refusalsLast: Duration.Duration
}

export const connectionLimits: ConnectionLimits = {
  total: 1024,
  byAddress: 256,
  byAccount: 256,
  headTimeout: Duration.seconds(10),
  waitTimeout: Duration.seconds(60),
  uploadTimeout: Duration.minutes(10),
  chunkedUploadTimeout: Duration.hours(2),
  refusalsLast: Duration.minutes(1),
  unreadOfAccount: 64 * 1024 ** 2,
  unreadOfAll: 192 * 1024 ** 2
}

/** Descriptors that stay for the store, its threads and the files of requests; half of them where there are few. */
const reservedDescriptors = 256

/** The descriptors that the system allows the process; `Infinity` where it does not say. */
const allowedDescriptors = (): number => {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}

/** The limits with those that are given, and no more connections than the process has descriptors for. */
export const limitsOf = (
  given: Partial<ConnectionLimits> = {},
  descriptors: number = allowedDescriptors()
): ConnectionLimits => {
  const limits = { ...connectionLimits, ...given }
  const total = Math.min(limits.total, descriptors - Math.min(reservedDescriptors, Math.ceil(descriptors / 2)))
  return { ...limits, total, byAccount: given.byAccount ?? Math.ceil(total / 4) }
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

/** In bytes per millisecond. */
const slowestUpload = (256 * 1024) / 1000

/** Whether the time of an upload is not over. */
const mayUpload = (
  request: IncomingMessage,
  { chunkedUploadTimeout, uploadTimeout }: ConnectionLimits,
  now: number
): boolean => {
  const since = openRequest({ source: request })?.uploadSince
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
  /** The account of the request that it carries; `undefined` if none is counted. */
  account: string | undefined
  /** What its requests can ask of it. */
  carrier: Carrier | undefined
  /** The latest request that has begun, until its answer has ended. */
  request: OpenRequest | undefined
  /** The response to the latest request that has begun. */
  response: ServerResponse<IncomingMessage> | undefined
  /** Whether that response has not ended. */
  isAnswering: boolean
  /** What begins the requests that came meanwhile. */
  readonly waiting: Array<() => void>
  /** When the connection was made, or its latest request began. */
  since: number
  /** The latest time since then after which bytes have moved. */
  movedAt: number
  /** When it was last looked whether they have. */
  lookedAt: number
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

const displacedBody = errorBody(
  "Others needed the place of this request, which waited for the rest of its body. Nothing was done. Send it again later."
)

/** Whether a connection waits for the head of a request. */
const isIdle = ({ response }: Connection): boolean =>
  response === undefined || response.writableFinished || response.destroyed

/** Whether a connection is counted and works for another account than the main one. */
const isOfOther = (client: string | undefined, account: string | undefined): boolean =>
  client !== undefined && account !== undefined && account !== mainAccount

/** Whether the latest request waits for its client: for the body, or for the response to be read. */
const isClientsTurn = (socket: Socket, { req }: ServerResponse<IncomingMessage>): boolean =>
  !req.complete || socket.writableLength > 0

/** A file is sent as a stream, which ends when the client has read nearly all of it. */
const mayTakeLong = (
  { req, writableEnded }: ServerResponse<IncomingMessage>,
  limits: ConnectionLimits,
  now: number
): boolean => (req.complete ? !writableEnded : mayUpload(req, limits, now))

/**
 * Ends a request that waits for its client: by an answer, if none has begun. What answers it is interrupted, so that nothing
 * is done by what arrives later, and all that it holds is given back.
 */
const endEarly = (socket: Socket, { request, response }: Connection, status: number, body: string): void => {
  // What could not be sent at once would wait for a client that reads nothing.
  if (response === undefined || response.headersSent || socket.writableLength > 0) {
    socket.destroy()
  } else {
    const headers = { connection: "close", "content-type": "application/json", "content-length": body.length }
    response.writeHead(status, status === 503 ? { ...headers, "retry-after": "1" } : headers).end(body)
  }
  request?.interrupt()
}

const remoteEndpoint = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/**
 * Applies the limits to a server. A connection beyond them takes the place of the one that has waited longest for the
 * head of a request, or else for its client; if all are at work, it is refused.
 */
export const limitConnections = (
  server: Server,
  limits: ConnectionLimits,
  trusted: ReadonlyArray<IpRange>,
  watched?: WatchedBound
) => {
  const { byAccount, byAddress, total, waitTimeout } = limits
  const connections = new Map<Socket, Connection>()
  const ofClients = new Map<string, number>()
  const ofAccounts = new Map<string, number>()
  let counted = 0
  /** Those at work for other accounts than the main one, whose share of the total they leave. */
  let ofOthers = 0

  const count = (shares: Map<string, number>, key: string, change: 1 | -1): void => {
    const left = (shares.get(key) ?? 0) + change
    if (left === 0) shares.delete(key)
    else shares.set(key, left)
  }

  /** Gives back the place of an account. */
  const leave = (connection: Connection): void => {
    const { account } = connection
    if (account === undefined) return
    connection.account = undefined
    count(ofAccounts, account, -1)
    if (isOfOther(connection.client, account)) ofOthers--
  }

  const forget = (socket: Socket): void => {
    const connection = connections.get(socket)
    if (connection === undefined) return
    connections.delete(socket)
    leave(connection)
    if (connection.client === undefined) return
    counted--
    count(ofClients, connection.client, -1)
  }

  /** Notes whether bytes have moved. */
  const look = (socket: Socket, connection: Connection, now: number): void => {
    const bytes = socket.bytesRead + socket.bytesWritten
    if (bytes !== connection.bytes) connection.movedAt = connection.lookedAt
    connection.bytes = bytes
    connection.lookedAt = now
  }

  const displace = (socket: Socket, connection: Connection): void => {
    forget(socket)
    endEarly(socket, connection, 503, displacedBody)
    socket.destroySoon()
  }

  /** Ends one that has no request, or else one that waits for its client, of those that waited longest. */
  const makeRoom = (mayEnd: (connection: Connection) => boolean): boolean => {
    const now = performance.now()
    let idle: readonly [Socket, Connection] | undefined
    let waiting: readonly [Socket, Connection] | undefined
    for (const each of connections) {
      const [socket, connection] = each
      if (!mayEnd(connection)) continue
      look(socket, connection, now)
      if (isIdle(connection)) {
        if (idle === undefined || connection.since < idle[1].since) idle = each
      } else if (connection.response !== undefined && isClientsTurn(socket, connection.response)) {
        if (waiting === undefined || connection.movedAt < waiting[1].movedAt) waiting = each
      }
    }
    const longest = idle ?? waiting
    if (longest === undefined) return false
    displace(...longest)
    return true
  }

  const hasCapacity = (client: string): boolean => {
    if ((ofClients.get(client) ?? 0) >= byAddress && !makeRoom((other) => other.client === client)) return false
    if (counted < total || makeRoom((other) => other.client !== undefined)) {
      watched?.granted()
      return true
    }
    watched?.refused()
    return false
  }

  const carrierOf = (socket: Socket, connection: Connection): Carrier => ({
    countFor: (account) => {
      if (connections.get(socket) !== connection) return undefined
      leave(connection)
      const isFull = (ofAccounts.get(account) ?? 0) >= byAccount
      if (isFull && !makeRoom((other) => other.account === account)) return "own"
      const { client } = connection
      const isOther = isOfOther(client, account)
      if (isOther && ofOthers >= total - byAccount && !makeRoom((other) => isOfOther(other.client, other.account))) {
        watched?.refused()
        return "all"
      }
      connection.account = account
      count(ofAccounts, account, 1)
      if (isOther) ofOthers++
      return undefined
    },
    waitsSince: () => {
      const { response } = connection
      if (response === undefined || response.writableEnded || !isClientsTurn(socket, response)) return undefined
      look(socket, connection, performance.now())
      return connection.movedAt
    },
    endForOthers: () => displace(socket, connection)
  })

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
    const now = performance.now()
    const connection: Connection = {
      client,
      account: undefined,
      carrier: undefined,
      request: undefined,
      response: undefined,
      isAnswering: false,
      waiting: [],
      since: now,
      movedAt: now,
      lookedAt: now,
      bytes: 0
    }
    track(socket, connection)
    if (client !== undefined) {
      counted++
      count(ofClients, client, 1)
    }
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
    const { socket } = request
    const begun = open(request, (connection.carrier ??= carrierOf(socket, connection)))
    connection.request = begun
    connection.response = response
    connection.since = performance.now()
    connection.movedAt = connection.since
    connection.lookedAt = connection.since
    connection.bytes = socket.bytesRead + socket.bytesWritten
    connection.isAnswering = true
    response.once("close", () => {
      connection.isAnswering = false
      connection.request = undefined
      leave(connection)
      begun.interrupt()
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
      look(socket, connection, now)
      if (!isClientsTurn(socket, response)) {
        connection.since = now
        connection.movedAt = now
        continue
      }
      if (mayTakeLong(response, limits, now)) connection.since = connection.movedAt
      if (now - connection.since >= limit) endEarly(socket, connection, 408, lateBody)
    }
  }
  server.once("listening", () => {
    const timer = setInterval(endSlow, Math.min(1000, limit / 4))
    server.once("close", () => clearInterval(timer))
  })
  return {
    /** Closes those that wait for a request, which Node does not do when it closes a server. */
    closeWaiting: () => {
      for (const [socket, connection] of connections) if (isIdle(connection)) socket.destroy()
    },
    /** How many are at work on a request. */
    held: () => connections.values().reduce((sum, { isAnswering }) => sum + Number(isAnswering), 0)
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
