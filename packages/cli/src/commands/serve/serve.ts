/** `roster serve` */
import { canonicalEmail, emailAddressIssue, FaultPlan, IpRange } from "@roster/domain"
import { invalidInput, isLoopbackHost } from "@roster/domain/internal"
import { shellWord } from "@roster/workflows"
import { Effect, FileSystem, Layer, Option, Redacted, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { setFlagsFromString } from "node:v8"
import { parseWith, refuse, usageError } from "../../errors/UsageError.ts"
import { pendingFile } from "../../files/PendingFile.ts"
import { studioFolder } from "../../files/StudioFolder.ts"
import { nameShared, readText } from "../../settings/InputFile.ts"
import { database, databaseUrl } from "../../settings/Database.ts"
import * as GlobalFlags from "../../settings/GlobalFlags.ts"
import { environment, flags, profileInUse } from "../../settings/Settings.ts"
import { defaultStore, storeExists } from "../../target/EmbeddedStore.ts"
import { Output } from "../../terminal/Output.ts"
import { omitUndefined } from "../../terminal/Results.ts"
import { version } from "../../terminal/Version.ts"
import { Signals } from "../../terminal/Signals.ts"
import { parsed, parsedEach, text, toggle } from "../../settings/FlagForms.ts"
import { count, portFlag, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { withHelp } from "../shared/HelpExtras.ts"
import { tracing } from "./Tracing.ts"

/** Parses an address that mail may come from, or `*@example.com` for all addresses of a domain. */
const parseSender = (given: string) => {
  const issue = emailAddressIssue(given.replace(/^\*@/, "anybody@"))
  return issue === undefined ? Effect.succeed(canonicalEmail(given)) : refuse("allow-sender", issue)
}

const parsePublicUrl = (given: string) => {
  const url = URL.parse(given)
  return url !== null && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname
    ? Effect.succeed(url)
    : refuse("public-url", "write the address that clients call, such as https://roster.example.com/v4")
}

/** An address and a port, with brackets around one of IPv6. */
const parseListen = (given: string) => {
  const [, host = "", port = ""] = /^([^\s:/]+|\[[\da-fA-F:.]+\]):(\d{1,5})$/.exec(given) ?? []
  return host !== "" && Number(port) <= 65_535
    ? Effect.succeed({ host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) })
    : refuse("metrics-listen", "write an address and a port, such as 127.0.0.1:9464")
}

/** The server knows which entries allow anything, and is loaded only if there is one. */
const parseFileHost = Effect.fnUntraced(function* (given: string) {
  const { isAllowedUrlEntry } = yield* Effect.promise(() => import("@roster/server"))
  if (isAllowedUrlEntry(given)) return given
  return yield* refuse(
    "allow-file-url",
    `write a host such as files.example.com or files.example.com:8443, or any, and not ${JSON.stringify(given)}`
  )
})

const serveFlags = {
  port: portFlag("Port to listen on", 4010),
  host: Flag.String("host").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription("Address to listen on (default: 127.0.0.1)"),
    Flag.withDefault("127.0.0.1")
  ),
  keyFile: text("key-file", "Write the administrator key of a new store to FILE (- for stdout)", "FILE|-"),
  allowedSenders: parsedEach(
    "allow-sender",
    parseSender,
    "Allow e-mails from this sender: an address, or '*@example.com'",
    "PATTERN"
  ),
  allowFileUrl: parsedEach(
    "allow-file-url",
    parseFileHost,
    "Allow imports of files from this host, or from any",
    "HOST|any"
  ),
  trustedProxies: parsedEach(
    "trusted-proxy",
    parseWith(IpRange, "trusted-proxy"),
    "Trust the X-Forwarded headers of this proxy",
    "CIDR"
  ),
  publicUrl: parsed(
    "public-url",
    parsePublicUrl,
    "Address that clients call, for links (default: the one in their requests)",
    "URL"
  ),
  tlsCert: text("tls-cert", "Listen with TLS, with the certificate and its chain in FILE (PEM)", "FILE"),
  tlsKey: text("tls-key", "Private key of the certificate (PEM, without a passphrase)", "FILE"),
  noStudio: toggle(
    "no-studio",
    "Show no page for contacts at / (default: over TLS and on this machine, to anyone who has a key)"
  ),
  accessLog: toggle(
    "access-log",
    "Write a line of JSON to stdout for each response, with the IP address of the client and the ends of its key"
  ),
  metricsListen: parsed(
    "metrics-listen",
    parseListen,
    "Serve metrics for Prometheus at /metrics of this address, such as 127.0.0.1:9464 (default: none)",
    "ADDRESS:PORT"
  ),
  maxConnections: count("max-connections", "Maximum number of connections (default: 1024)", 1),
  maxConnectionsPerClient: count(
    "max-connections-per-client",
    "Maximum number of connections from one address (default: 256)",
    1
  ),
  databaseUrl,
  databaseConnections: count("database-connections", "Maximum number of connections to PostgreSQL (default: 14)", 8),
  faults: text("faults", "Fail the calls that the fault plan in FILE (JSON) lists, to test clients", "FILE")
}

const decodePlan = Schema.decodeUnknownEffect(Schema.fromJsonString(FaultPlan.FaultPlan), {
  onExcessProperty: "error"
})

/** The fault plan in a file. */
const readFaults = Effect.fnUntraced(function* (path: string) {
  const output = yield* Output
  const plan = yield* decodePlan(yield* readText(path)).pipe(
    Effect.mapError((error) =>
      usageError(
        `${path} is not a fault plan: ${invalidInput(error).issue}`,
        'Write JSON such as {"contacts.add": {"2": {"fault": "RateLimited", "retryAfter": 3}}}.'
      )
    )
  )
  yield* output.note(`warning: the calls that ${path} names fail. This service is for tests.`)
  return plan
})

/** The files of the certificate. A user who can read its key can pose as the service. */
const tlsFiles = Effect.fnUntraced(function* (certFile: string | undefined, keyFile: string | undefined) {
  yield* refuseFlags(
    [keyFile === undefined && certFile !== undefined, "--tls-cert needs --tls-key, the file of its private key."],
    [certFile === undefined && keyFile !== undefined, "--tls-key needs --tls-cert, the file of its certificate."]
  )
  if (certFile === undefined || keyFile === undefined) return undefined
  yield* nameShared(keyFile)
  return { certFile, keyFile }
})

/** The flags that name another service are refused; the environment may name one for other commands. */
const storeToServe = Effect.fnUntraced(function* (isOnPostgres: boolean) {
  const { apiKeyFile, apiKeyHeader, apiKeyPrefix, baseUrl, db } = yield* flags
  const profile = (yield* GlobalFlags.profile) === undefined ? undefined : yield* profileInUse
  if (profile?.baseUrl !== undefined) {
    return yield* usageError(
      `The profile ${profile.name} names a service, and roster serve is the service itself.`,
      "Set its store with --db, and leave out --profile."
    )
  }
  if ([baseUrl, apiKeyFile, apiKeyHeader, apiKeyPrefix].some((flag) => flag !== undefined)) {
    return yield* usageError(
      "roster serve is the service itself: it takes no --base-url and no --api-key flags.",
      "Set its store with --db, and its address with --host and --port."
    )
  }
  if (isOnPostgres) return "postgres"
  return db ?? (yield* environment).db ?? (yield* defaultStore)
})

/** Nobody would see the key of a store that has none. */
const keyNeedsPlace = usageError(
  "This store has no API keys, and nothing says where its administrator key is to go, so the service did not start.",
  "Write the key to a file with --key-file FILE, or print it on purpose with --key-file -."
)

/** What is served, for people. */
const served = Effect.fnUntraced(function* (store: string | undefined, address: string, hasPage: boolean) {
  const fs = yield* FileSystem.FileSystem
  const size = store === undefined ? undefined : yield* Effect.option(fs.stat(store))
  const what = size === undefined ? "PostgreSQL" : `${store}${Option.isSome(size) ? ` (${size.value.size} bytes)` : ""}`
  const { hostname, origin, protocol } = new URL(address)
  const isShown = hasPage && (protocol === "https:" || isLoopbackHost(hostname))
  const where = isShown
    ? `Its contacts are shown at ${origin} to anyone who has a key, and its interface`
    : "Its interface is shown"
  return `roster ${version} serves ${what}, with${protocol === "https:" ? "" : "out"} TLS. ${where} at ${origin}/docs. Ctrl-C or SIGTERM stops it.`
})

/** Writes the key of a new store as a line of output before the line that says the service listens. */
const print = Effect.fnUntraced(function* (key: Redacted.Redacted<string>) {
  const output = yield* Output
  yield* output.note("The next line is the administrator key of this new store. It is shown only once.")
  yield* output.write(Stream.make(`${Redacted.value(key)}\n`))
})

const keysAreThere = (keyFile: string, store: string): string =>
  `This store already has API keys, so nothing was written to ${keyFile}. To create another key: roster ` +
  `apikeys create NAME --access LEVEL ${store}`

export const command = Command.make(
  "serve",
  serveFlags,
  Effect.fnUntraced(function* (given) {
    const { allowedSenders, allowFileUrl, host, keyFile, metricsListen, port, publicUrl, trustedProxies } = given
    const { databaseConnections, maxConnections: total, maxConnectionsPerClient: byAddress } = given
    // V8 would begin to keep what belongs to a request until its next full collection. (docs/decisions/performance.md)
    setFlagsFromString("--no-allocation-site-pretenuring")
    const output = yield* Output
    const tls = yield* tlsFiles(given.tlsCert, given.tlsKey)
    const faults = given.faults === undefined ? undefined : yield* readFaults(given.faults)
    const postgres = yield* database(given.databaseUrl)
    const filename = yield* storeToServe(postgres !== undefined)
    const { RosterServer } = yield* Effect.promise(() => import("@roster/server"))
    const file = keyFile === undefined || keyFile === "-" ? undefined : yield* pendingFile(keyFile, filename)
    const studio = given.noStudio ? undefined : yield* studioFolder
    const mayPrint = keyFile === "-" || (keyFile === undefined && output.isTerminal)
    // A store with keys writes none. A new one is not made before its key has a place.
    if (file !== undefined && postgres === undefined && !(yield* storeExists(filename))) yield* file.check
    let isNew = false
    const server = RosterServer.layer({
      host,
      port,
      store: {
        ...(postgres === undefined ? { filename } : { postgres: { ...postgres, maxConnections: databaseConnections } }),
        allowedSenders,
        allowFileUrl
      },
      trustedProxies,
      publicUrl,
      version,
      tls,
      metrics: metricsListen,
      page: studio === undefined ? undefined : { folder: studio },
      connectionLimits: omitUndefined({ total, byAddress }),
      faults,
      // A reader that is gone ends no request.
      onAccess: given.accessLog
        ? (entry) => Effect.ignore(output.write(Stream.make(`${JSON.stringify(entry)}\n`)))
        : undefined,
      onAdministratorKey: Effect.fnUntraced(function* (key) {
        if (file !== undefined) yield* file.write(key)
        else if (mayPrint) yield* print(key)
        else return yield* keyNeedsPlace
      }),
      onKeysCommitted: Effect.fnUntraced(function* (isKey) {
        if (file !== undefined) isNew = yield* file.publish(isKey)
      })
    })
    const untilStopped = Effect.gen(function* () {
      const { address, metricsAddress, superseded } = yield* RosterServer.RosterServer
      if (file !== undefined && keyFile !== undefined && !isNew)
        yield* output.note(
          keysAreThere(keyFile, postgres === undefined ? `--db ${shellWord(filename)}` : "--base-url URL")
        )
      const stopped = yield* (yield* Signals).expect
      if (tls === undefined && !isLoopbackHost(host)) {
        yield* output.note(
          `warning: ${host} can be reached from other machines, and requests and keys are sent unencrypted. ` +
            "Give it a certificate with --tls-cert and --tls-key, or put a TLS proxy in front of it."
        )
      }
      if (metricsAddress !== undefined) yield* output.note(`metrics are at ${metricsAddress}`)
      if (metricsListen !== undefined && !isLoopbackHost(metricsListen.host)) {
        yield* output.note(
          `warning: anyone who reaches ${metricsListen.host}:${metricsListen.port} reads the metrics, without a ` +
            "key. They name nobody, but show how busy the service is."
        )
      }
      yield* output.note(yield* served(postgres === undefined ? filename : undefined, address, studio !== undefined))
      yield* output.write(Stream.make(`listening on ${address}\n`))
      yield* Effect.raceFirst(stopped, superseded)
    })
    const traces = yield* tracing
    if (file === undefined && !mayPrint && postgres === undefined && !(yield* storeExists(filename))) {
      return yield* keyNeedsPlace
    }
    yield* Effect.provide(untilStopped, Layer.provide(server, traces))
  })
).pipe(
  withExamples({
    "roster serve --port 4010 --db roster.db --key-file admin.key":
      "The administrator key of a new store goes to admin.key",
    "roster serve --db roster.db --allow-sender '*@example.com'": "Accept e-mails from a domain",
    "roster serve --database-url postgres://roster@db.example.com/roster --key-file admin.key":
      "On PostgreSQL, with the password in ROSTER_DATABASE_PASSWORD; any number of processes serve it",
    "roster serve --host 0.0.0.0 --tls-cert chain.pem --tls-key key.pem": "With TLS; renewed files are noticed",
    "roster serve --db test.db --faults faults.json": "Fail the calls that a fault plan lists, to test clients",
    "roster serve --metrics-listen 127.0.0.1:9464": "With metrics for Prometheus",
    "roster serve --public-url https://roster.example.com/v4 --trusted-proxy 10.0.0.5": "Behind a proxy with TLS"
  }),
  withHelp({
    groups: {
      "where it listens": [
        "port",
        "host",
        "public-url",
        "trusted-proxy",
        "tls-cert",
        "tls-key",
        "max-connections",
        "max-connections-per-client"
      ],
      "the store": ["key-file", "database-url", "database-connections"],
      "what it allows": ["allow-sender", "allow-file-url", "faults"],
      "what it tells": ["access-log", "metrics-listen"]
    }
  })
)
