/**
 * The address of a PostgreSQL, and how its connections are kept private: by TLS that is verified, unless the database is on
 * this machine, or its address says otherwise. (docs/decisions/postgres.md)
 */
import type * as PgProtocol from "@effect/sql-pg/PgProtocol"
import { type Distrust, distrustOf, isLoopbackHost } from "@roster/domain/internal"
import { Result } from "effect"
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import type { ConnectionOptions } from "node:tls"

/** The parameters of an address that are read. */
const parameters: ReadonlySet<string> = new Set([
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "application_name",
  "options",
  "connect_timeout",
  "sslmode",
  "sslrootcert"
])

const verifiedModes: ReadonlySet<string> = new Set(["require", "verify-ca", "verify-full"])

/** The address says how to connect, and cannot be followed; or the database did not keep to it. */
export class ConnectionRefused extends Error {
  override readonly name = "ConnectionRefused"
}

const remedies =
  "name the authority of its certificate by sslrootcert=FILE, or write sslmode=disable where nobody else can listen, " +
  "such as in a network of containers"

/** How the connections to a database are made. */
export interface PostgresRoute {
  /** TLS that verifies the certificate; `false` for clear text. */
  readonly ssl: ConnectionOptions | false
  /** Makes connections in clear text over a network, which give no password away, given the parser of the driver. */
  readonly stream: ((makeParser: () => PgProtocol.Parser) => Socket) | undefined
  /** How private the connections are, in a few words. */
  readonly privacy: string
  /** What the operator of the service should know, at each start. */
  readonly warnings: ReadonlyArray<string>
}

const asksOtherwise =
  "it asks for the password in a way that gives it away to whoever listens, over a connection without TLS: use scram-sha-256"

/**
 * Ends a connection whose server asks for the password otherwise than by SCRAM, before the driver answers: each message of
 * the handshake is read as the driver reads it, up to the one that ends it.
 */
const guarded =
  (host: string, port: number) =>
  (makeParser: () => PgProtocol.Parser): Socket => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 })
    const parser = makeParser()
    const look = (bytes: Buffer): void => {
      try {
        for (const { _tag } of parser.push(bytes)) {
          if (_tag === "ReadyForQuery") return void socket.off("data", look)
          if (_tag === "AuthenticationCleartextPassword" || _tag === "AuthenticationMD5Password") {
            return void socket.destroy(new ConnectionRefused(asksOtherwise))
          }
        }
      } catch {
        // What the driver cannot read either.
        socket.destroy(new ConnectionRefused("it does not speak the protocol of PostgreSQL"))
      }
    }
    socket.prependListener("data", look)
    return socket
  }

const refuse = (why: string) => Result.fail(new ConnectionRefused(why))

const distrusted: { readonly [Why in Distrust]: string } = {
  ForeignOwner: "belongs to another user: it has to belong to the user of this process or to root",
  OthersWrite: "can be changed by other users: run chmod go-w"
}

/** Reads the authorities that may vouch for a database. What was opened is judged, so nothing comes between. */
const readAuthorities = (path: string): Result.Result<string, ConnectionRefused> => {
  const refused = (why: string) => new ConnectionRefused(`the file of sslrootcert, ${path}, ${why}`)
  return Result.try({
    try: () => {
      const descriptor = openSync(path, "r")
      try {
        const why = distrustOf(fstatSync(descriptor), process.getuid?.())
        if (why !== undefined) throw refused(distrusted[why])
        return readFileSync(descriptor, "utf8")
      } finally {
        closeSync(descriptor)
      }
    },
    catch: (cause) => (cause instanceof ConnectionRefused ? cause : refused("cannot be read"))
  })
}

/** How to connect by an address, or why not. */
export const routeOf = (address: string): Result.Result<PostgresRoute, ConnectionRefused> => {
  const url = URL.parse(address)
  if (url === null) return refuse("its address is none of PostgreSQL")
  const given = url.searchParams
  const host = decodeURIComponent(given.get("host") ?? url.hostname.replace(/^\[(.*)\]$/, "$1"))
  const isHere = host === "" || host.startsWith("/") || isLoopbackHost(host)
  const mode = given.get("sslmode")
  const authorities = given.get("sslrootcert")
  const unknown = [...new Set(given.keys())].filter((name) => !parameters.has(name))
  const warnings = [
    ...unknown.map((name) => `the parameter ${name} of the address of the database is not known, and has no effect`),
    ...(given.has("password")
      ? ["the password is in the query of the address of the database: set ROSTER_DATABASE_PASSWORD instead"]
      : [])
  ]
  if (mode === "prefer" || mode === "allow") {
    if (!isHere) return refuse(`sslmode=${mode} lets whoever is in between turn TLS off: ${remedies}`)
  } else if (mode !== null && mode !== "disable" && !verifiedModes.has(mode)) {
    return refuse(`sslmode=${mode} is not known: leave it out for TLS, or write disable`)
  }
  const isClear = mode === "disable" || (isHere && authorities === null && (mode === null || !verifiedModes.has(mode)))
  if (!isClear) {
    const ca = authorities === null || authorities === "system" ? undefined : readAuthorities(authorities)
    return ca !== undefined && Result.isFailure(ca)
      ? Result.fail(ca.failure)
      : Result.succeed({
          ssl: ca === undefined ? {} : { ca: ca.success },
          stream: undefined,
          privacy: "TLS, with a verified certificate",
          warnings
        })
  }
  if (isHere)
    return Result.succeed({ ssl: false, stream: undefined, privacy: "without TLS, on this machine", warnings })
  const warning = `the connection to the database at ${host} is in clear text (sslmode=disable)`
  return Result.succeed({
    ssl: false,
    stream: guarded(host, Number(given.get("port") ?? (url.port === "" ? 5432 : url.port))),
    privacy: warning,
    warnings: [...warnings, warning]
  })
}

/** Why a connection that should have TLS was not made; `undefined` for other reasons. */
export const tlsIssue = (message: string, cause: unknown): string | undefined => {
  if (cause instanceof ConnectionRefused) return cause.message
  if (message.includes("Server refused TLS")) return `it offers no TLS: turn it on there, or ${remedies}`
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  return /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)_|ERR_(?:TLS|SSL)/.test(code)
    ? `its certificate is not trusted (${code}): ${remedies}`
    : undefined
}
