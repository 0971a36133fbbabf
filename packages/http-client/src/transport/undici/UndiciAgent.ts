/**
 * The connections of an HTTP client: how many, how long, through which proxy, and that none is left behind.
 */
import { Duration, Effect } from "effect"
import { env } from "node:process"
import type { ConnectionOptions, SecureContextOptions } from "node:tls"
import { Agent, type buildConnector, type Client, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici"
import { type Connecting, UndiciConnection } from "./UndiciConnection.ts"

/** All of it is optional. */
export interface ConnectionSettings {
  /** How many connections to one origin at most; further requests wait. 16 where it is not given. */
  readonly connections?: number | undefined
  /** How long it may take to connect, TLS and a tunnel through a proxy included. 5 seconds where it is not given. */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * How long an idle connection is kept where the server does not say. 4 seconds where it is not given. What a server
   * says in `Keep-Alive: timeout=` counts instead, less 2 seconds, so that it is never the server who closes first.
   */
  readonly keepAliveTimeout?: Duration.Input | undefined
  /** How large the head of a response may be, in bytes. 16 KiB where it is not given. */
  readonly maximumHeaderBytes?: number | undefined
  /**
   * `false` goes to no proxy. Otherwise `http_proxy`, `https_proxy` and `no_proxy` of the environment count, in small
   * letters or capitals, as they are when the layer is built.
   */
  readonly proxy?: boolean | undefined
  /** Certificates and what else TLS is told: `ca`, `cert`, `key`, `servername`, ... Node's own where it is not given. */
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
