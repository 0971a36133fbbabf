/**
 * The connections of an HTTP client: how many there are, how long they are kept, through which proxy they go, and that none
 * is left behind.
 */
import { Duration, Effect } from "effect"
import { Socket } from "node:net"
import { env } from "node:process"
import type { ConnectionOptions, SecureContextOptions } from "node:tls"
import { Agent, type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, errors, Pool } from "undici"
import { type Link, UndiciExchange } from "./UndiciExchange.ts"

/** How connections are made and kept. */
export interface ConnectionSettings {
  /** Maximum number of connections to one origin (default: 16). Further requests wait. */
  readonly connections?: number | undefined
  /** Maximum time to connect, with TLS and a tunnel through a proxy (default: 5 seconds). */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * How long an idle connection is kept (default: 4 seconds). A server's own `Keep-Alive: timeout=` counts instead, less
   * 2 seconds, so that the server never closes first.
   */
  readonly keepAliveTimeout?: Duration.Input | undefined
  /** Maximum size of the head of a response, in bytes (default: 16 KiB). */
  readonly maximumHeaderBytes?: number | undefined
  /**
   * `false` uses no proxy. Otherwise `http_proxy`, `https_proxy` and `no_proxy` of the environment count, in either case,
   * as they are when the layer is built.
   */
  readonly proxy?: boolean | undefined
  /** Settings of TLS, such as `ca`, `cert`, `key` and `servername` (default: those of Node). */
  readonly tls?: (SecureContextOptions & Pick<ConnectionOptions, "servername" | "rejectUnauthorized">) | undefined
}

const proxyVariables = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"]

export const makeAgent = (settings: ConnectionSettings) => {
  const connectTimeout = Duration.toMillis(settings.connectTimeout ?? "5 seconds")
  const connecting: Connecting = { timeout: connectTimeout, open: new Set() }
  const shared = {
    connections: settings.connections ?? 16,
    // Timed by the connections themselves.
    connectTimeout: 0,
    keepAliveTimeout: Duration.toMillis(settings.keepAliveTimeout ?? "4 seconds"),
    maxHeaderSize: settings.maximumHeaderBytes ?? 16 * 1024,
    // One request at a time on a connection: undici sends nothing twice then.
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    // How long an answer may take is for the caller to say, by `Effect.timeout`.
    headersTimeout: 0,
    bodyTimeout: 0
  } as const
  const factory = (origin: string | URL, options: object): Dispatcher =>
    new Pool(origin, {
      ...options,
      ...shared,
      factory: (origin, options) =>
        // A pool gives its connections the connector that it made of its own options.
        new UndiciConnection(
          origin,
          options as Client.Options & { readonly connect: buildConnector.connector },
          connecting
        )
    })
  const tls = { ...settings.tls, allowH2: false }
  const proxied = settings.proxy !== false && proxyVariables.some((name) => (env[name] ?? "") !== "")
  const dispatcher = proxied
    ? new EnvHttpProxyAgent({
        ...shared,
        factory,
        connect: tls,
        requestTls: tls,
        // The connection to a proxy that keeps silent.
        clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: connectTimeout })
      })
    : new Agent({ ...shared, factory, connect: tls })
  const close = Effect.promise(() => {
    const destroyed = dispatcher.destroy()
    const reason = new Error("The HTTP client is closed.")
    for (const giveUp of connecting.open) giveUp(reason)
    return destroyed
  })
  return { dispatcher, close }
}

/** How connecting is bounded. */
interface Connecting {
  /** How long it may take, in milliseconds. The timer of undici is late by up to a second. */
  readonly timeout: number
  /** What is connecting at the moment: undici leaves that open when it is destroyed. */
  readonly open: Set<(reason: Error) => void>
}

/** A connection that knows which request it connects for, so that giving up the request gives up connecting. */
class UndiciConnection extends Client implements Link {
  readonly #connector: buildConnector.connector
  readonly #connecting: Connecting
  readonly #interim = new InterimResponses()
  #exchange: UndiciExchange | undefined
  #giveUp: ((reason: Error) => void) | undefined

  constructor(
    origin: URL,
    options: Client.Options & { readonly connect: buildConnector.connector },
    connecting: Connecting
  ) {
    super(origin, { ...options, connect: (target, callback) => this.#open(target, callback) })
    this.#connector = options.connect
    this.#connecting = connecting
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof UndiciExchange) {
      // It was given up while it waited in the queue of the pool, and the connection is free for the next one.
      if (!handler.assign(this)) return true
      this.#exchange = handler
    }
    return super.dispatch(options, handler)
  }

  release(exchange: UndiciExchange): void {
    if (this.#exchange === exchange) this.#exchange = undefined
  }

  abort(reason: Error): void {
    this.#giveUp?.(reason)
  }

  expectHead(): void {
    this.#interim.expectHead()
  }

  #open(target: buildConnector.Options, callback: buildConnector.Callback): void {
    const aborted = this.#exchange?.aborted
    if (aborted !== undefined) return callback(aborted, null)
    const controller = new AbortController()
    let opening: unknown
    let settled = false
    // undici calls back with the error alone, whatever its types say.
    const settle = (error: Error | null, socket?: Socket | null) => {
      if (settled) return void socket?.destroy()
      settled = true
      this.#giveUp = undefined
      clearTimeout(timer)
      this.#connecting.open.delete(giveUp)
      if (error !== null || socket == null) return callback(error ?? new Error("There is no connection."), null)
      const read = socket.read.bind(socket)
      socket.read = (size) => {
        const bytes: unknown = read(size)
        if (bytes instanceof Uint8Array) this.#interim.rewrite(bytes)
        return bytes
      }
      callback(null, socket)
    }
    const giveUp = (reason: Error) => {
      // A socket tells by its error; a tunnel through a proxy takes the signal, and closes when it comes about too late.
      if (opening instanceof Socket) opening.destroy(reason)
      controller.abort(reason)
      settle(reason)
    }
    this.#giveUp = giveUp
    this.#connecting.open.add(giveUp)
    const { timeout } = this.#connecting
    const timer = setTimeout(
      () => giveUp(new errors.ConnectTimeoutError(`No connection within ${timeout} ms.`)),
      timeout
    )
    // The types say that a connector returns nothing; the one of undici returns the socket that it opens.
    const withSignal = { ...target, signal: controller.signal }
    opening = this.#connector(withSignal, settle)
  }
}

const prefix = [...new TextEncoder().encode("HTTP/1.")]
const blankLine = [...new TextEncoder().encode("\r\n\r\n")]
const zero = 0x30
const one = 0x31
const two = 0x32

/**
 * Follows the bytes of one connection up to the status of its final head, and changes a status of 100 before it to 102.
 * Interim responses (1xx) are to be ignored, asked for or not (RFC 9110, 15.2), but undici 8.12.4 takes a `100 Continue` for
 * a broken response and closes the connection.
 * (docs/upstream/undici-interim-responses.md)
 */
export class InterimResponses {
  /** Position of the next byte in the status line; beyond it while an interim head is skipped; -1 outside of a head. */
  #position = -1
  #hundred = false
  #matched = 0

  /** A request has been written: the head of a response comes next. */
  expectHead(): void {
    this.#position = 0
  }

  /** Changes the bytes in place. */
  rewrite(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length && this.#position >= 0; index++) {
      const byte = bytes[index]
      if (this.#position >= 12) {
        this.#skip(byte)
        continue
      }
      const position = this.#position++
      if (position < prefix.length ? byte !== prefix[position] : position === 9 && byte !== one) this.#position = -1
      else if (position === 10) this.#hundred = byte === zero
      else if (position === 11 && this.#hundred && byte === zero) bytes[index] = two
    }
  }

  #skip(byte: number | undefined): void {
    this.#matched = byte === blankLine[this.#matched] ? this.#matched + 1 : byte === blankLine[0] ? 1 : 0
    if (this.#matched < blankLine.length) return
    this.#matched = 0
    this.#position = 0
  }
}
