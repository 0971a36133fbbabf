/** The connections of an HTTP client: their number, lifetime and proxy, and how all of them are closed. */
import { Duration, Effect, Predicate } from "effect"
import { Socket } from "node:net"
import type { ConnectionOptions, SecureContextOptions } from "node:tls"
import { Agent, type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, errors, Pool } from "undici"
import { ProxyUnreachable } from "../ProxyUnreachable.ts"
import type { EnvironmentProxies } from "./EnvironmentProxies.ts"
import { type Link, UndiciExchange } from "./UndiciExchange.ts"

/** How connections are made and kept. */
export interface ConnectionSettings {
  /** Maximum number of connections to one origin (default: 16). Further requests wait. */
  readonly connections?: number | undefined
  /** Maximum time to connect, with TLS and a tunnel through a proxy (default: 5 seconds). */
  readonly connectTimeout?: Duration.Input | undefined
  /** How long idle connections are kept (default: 4 seconds, or the server's `Keep-Alive: timeout=` less 2 seconds). */
  readonly keepAliveTimeout?: Duration.Input | undefined
  /** Maximum size of the head of a response, in bytes (default: 16 KiB). */
  readonly maximumHeaderBytes?: number | undefined
  /**
   * Uses `http_proxy`, `https_proxy` and `no_proxy` as they are when the layer is built, but never for a loopback address
   * (default: true).
   */
  readonly proxy?: boolean | undefined
  /** Settings of TLS, such as `ca`, `cert`, `key` and `servername` (default: those of Node). */
  readonly tls?: (SecureContextOptions & Pick<ConnectionOptions, "servername" | "rejectUnauthorized">) | undefined
}

const defaultPort = ({ port, protocol }: { readonly port: string; readonly protocol: string }): number =>
  Number(port || (protocol === "https:" ? 443 : 80))

const failedPlace = (error: unknown): { readonly host?: unknown; readonly port?: unknown } => {
  if (!Predicate.isObject(error)) return {}
  // Several addresses of one name were tried.
  const { errors } = error
  if (Array.isArray(errors)) return failedPlace(errors[0])
  return { host: error["hostname"] ?? error["address"], port: error["port"] }
}

/** The answer of a proxy that opens no tunnel, in the words of undici. */
const refusedTunnel = /^Proxy response \((\d{3})\)/

/** Names the proxy in the error of a connection that went to it: forwarded requests ask for it, tunnels for another. */
const namedProxy = (error: Error, target: buildConnector.Options, { http, https }: EnvironmentProxies): Error => {
  const status = refusedTunnel.exec(error.message)?.[1]
  if (status !== undefined && https !== undefined) return new ProxyUnreachable(https.host, error, Number(status))
  const { host, port } = failedPlace(error)
  const requested = { host: target.hostname, port: defaultPort(target) }
  const proxy = [http, https].find(
    (url) =>
      url !== undefined &&
      (port === undefined
        ? host === url.hostname
        : port === defaultPort(url) && (port !== requested.port || requested.host === url.hostname))
  )
  return proxy === undefined ? error : new ProxyUnreachable(proxy.host, error)
}

export const makeAgent = (settings: ConnectionSettings, proxies: EnvironmentProxies | undefined) => {
  const connectTimeout = Duration.toMillis(settings.connectTimeout ?? "5 seconds")
  const connecting: Connecting = { timeout: connectTimeout, open: new Set(), proxies }
  const shared = {
    connections: settings.connections ?? 16,
    // Timed by `UndiciConnection`.
    connectTimeout: 0,
    keepAliveTimeout: Duration.toMillis(settings.keepAliveTimeout ?? "4 seconds"),
    maxHeaderSize: settings.maximumHeaderBytes ?? 16 * 1024,
    // With one request at a time, undici sends nothing twice.
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    // Callers limit the time of an answer, by `Effect.timeout`.
    headersTimeout: 0,
    bodyTimeout: 0
  } as const
  const factory = (origin: string | URL, options: object): Dispatcher =>
    new Pool(origin, {
      ...options,
      ...shared,
      factory: (origin, options) =>
        // A pool makes the connector of its connections from its own options.
        new UndiciConnection(
          origin,
          options as Client.Options & { readonly connect: buildConnector.connector },
          connecting
        )
    })
  const tls = { ...settings.tls, allowH2: false }
  const direct = new Agent({ ...shared, factory, connect: tls })
  const proxied =
    proxies === undefined
      ? undefined
      : new EnvHttpProxyAgent({
          ...shared,
          // Empty texts keep undici from reading the environment again later.
          httpProxy: proxies.http?.href ?? "",
          httpsProxy: proxies.https?.href ?? "",
          noProxy: "",
          factory,
          connect: tls,
          requestTls: tls,
          // Limits the wait for a silent proxy.
          clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: connectTimeout })
        })
  const dispatcherFor = (address: URL): Dispatcher =>
    proxied === undefined || proxies?.proxyFor(address) === undefined ? direct : proxied
  const close = Effect.promise(() => {
    const destroyed = Promise.all([direct.destroy(), proxied?.destroy()])
    const reason = new Error("The HTTP client is closed.")
    for (const giveUp of connecting.open) giveUp(reason)
    return destroyed
  })
  return { dispatcherFor, proxy: proxies?.http?.host, close }
}

/** The limits of connecting. */
interface Connecting {
  /** How long it may take, in milliseconds. The timer of undici is late by up to a second. */
  readonly timeout: number
  /** The pending connections, which undici leaves open when it is destroyed. */
  readonly open: Set<(reason: Error) => void>
  readonly proxies: EnvironmentProxies | undefined
}

/** A connection that stops connecting when its request is given up. */
class UndiciConnection extends Client implements Link {
  readonly #connector: buildConnector.connector
  readonly #connecting: Connecting
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
      // The caller gave the request up while it waited in the pool; the next one gets the connection.
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

  #open(target: buildConnector.Options, callback: buildConnector.Callback): void {
    const aborted = this.#exchange?.aborted
    if (aborted !== undefined) return callback(aborted, null)
    const { proxies, timeout } = this.#connecting
    const controller = new AbortController()
    let opening: unknown
    let settled = false
    // Contrary to its types, undici calls back with the error alone.
    const settle = (error: Error | null, socket?: Socket | null) => {
      if (settled) return void socket?.destroy()
      settled = true
      this.#giveUp = undefined
      clearTimeout(timer)
      this.#connecting.open.delete(giveUp)
      if (error !== null || socket == null) {
        const cause = error ?? new Error("There is no connection.")
        return callback(proxies === undefined ? cause : namedProxy(cause, target, proxies), null)
      }
      callback(null, socket)
    }
    const giveUp = (reason: Error) => {
      // A socket reports its error; a tunnel through a proxy takes the signal, and closes if it opens too late.
      if (opening instanceof Socket) opening.destroy(reason)
      controller.abort(reason)
      settle(reason)
    }
    this.#giveUp = giveUp
    this.#connecting.open.add(giveUp)
    const timer = setTimeout(
      () => giveUp(new errors.ConnectTimeoutError(`No connection within ${timeout} ms.`)),
      timeout
    )
    // Contrary to its types, undici's connector returns the socket that it opens.
    const withSignal = { ...target, signal: controller.signal }
    opening = this.#connector(withSignal, settle)
  }
}
