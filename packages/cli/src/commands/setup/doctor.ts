/** `roster doctor` */
import { isLoopbackHost } from "@roster/domain"
import { connectionProblem } from "@roster/http-client"
import { type EnvironmentProxies, environmentProxies } from "@roster/http-client/EnvironmentProxies"
import type { PostgresFinding as Finding } from "@roster/server/PostgresCheck"
import { Effect, FileSystem, Path, Predicate, Result, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { lookup } from "node:dns/promises"
import { Agent as PlainAgent, request as requestPlain } from "node:http"
import { Agent as TlsAgent, request as requestTls } from "node:https"
import { TLSSocket } from "node:tls"
import { configPath, readConfig } from "../../settings/ConfigFile.ts"
import { database, databaseUrl } from "../../settings/Database.ts"
import { type Settings, settingsWithoutKey } from "../../settings/Settings.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { counted } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { version as ownVersion } from "../../terminal/Version.ts"
import { lastBackup } from "../shared/LastBackup.ts"
import { probeKey } from "./KeyProbe.ts"
import { diskSpace, folders, unfinishedRuns } from "./MachineChecks.ts"

const ok = (check: string, detail: string): Finding => ({ check, result: "ok", detail })
const warning = (check: string, detail: string): Finding => ({ check, result: "warning", detail })
const failed = (check: string, detail: string): Finding => ({ check, result: "failed", detail })

/** At least one check failed. */
export class Unhealthy extends Schema.TaggedError<Unhealthy>()("Unhealthy", { message: Schema.String }) {}

/** Bun and Deno name themselves, and the Node whose modules they have. */
const runtime = Effect.sync(() => {
  const { bun, deno, sqlite = "none" } = process.versions
  const other = bun === undefined ? (deno === undefined ? "" : `Deno ${deno} as `) : `Bun ${bun} as `
  return [ok("version", `roster ${ownVersion}`), ok("node", `${other}${process.version}, SQLite ${sqlite}`)]
})

const configuration = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const config = yield* Effect.result(readConfig)
  if (Result.isFailure(config)) return [failed("profiles", `${config.failure.message} ${config.failure.hint}`)]
  const file = yield* configPath
  return yield* fs.stat(file).pipe(
    Effect.map(({ mode }) =>
      (mode & 0o077) === 0
        ? ok("profiles", file)
        : warning("profiles", `other users can read ${file} and its keys: run chmod 600`)
    ),
    Effect.orElseSucceed(() => ok("profiles", `none; ${file} does not exist`)),
    Effect.map((finding) => [finding])
  )
})

const hostsOf = (proxies: EnvironmentProxies | undefined): string =>
  [...new Set([proxies?.https?.host, proxies?.http?.host])].filter(Predicate.isNotUndefined).join(" and ") || "none"

/** The network settings of the environment. The address of a proxy can contain a password, so its host alone is shown. */
const network = Effect.gen(function* () {
  const proxies = yield* Effect.result(environmentProxies)
  const authorities = process.env["NODE_EXTRA_CA_CERTS"]
  return [
    Result.isFailure(proxies) ? failed("proxy", proxies.failure.message) : ok("proxy", hostsOf(proxies.success)),
    ...(authorities === undefined ? [] : [ok("certificates", `plus those in ${authorities}`)]),
    ...(process.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0"
      ? [
          failed(
            "tls",
            "NODE_TLS_REJECT_UNAUTHORIZED=0 lets others read your keys: unset it, and use NODE_EXTRA_CA_CERTS"
          )
        ]
      : [])
  ]
})

const timeoutMillis = 5000

/** The head of the response to a request without a key. */
interface Answer {
  readonly status: number
  readonly date: string | undefined
  /** The end of the certificate's validity; `undefined` without TLS. */
  readonly validTo: string | undefined
  readonly protocol: string | undefined
}

/** What went wrong on the way, and what to do. */
const words = (url: URL, error: Error, proxy: URL | undefined): string => {
  const isRefused = Predicate.hasProperty(error, "code") && error.code === "ECONNREFUSED"
  const advice = isRefused ? ": start the service, or correct the address" : ""
  return `${connectionProblem(url, error)}${advice}${proxy === undefined ? "" : `, by way of the proxy ${proxy.host}`}`
}

/** Sends a request without a key; fails with the reason as text. */
const ask = (url: URL, proxy: URL | undefined): Effect.Effect<Answer, string> =>
  Effect.callback((resume) => {
    const isTls = url.protocol === "https:"
    const agent = new (isTls ? TlsAgent : PlainAgent)({
      proxyEnv: proxy === undefined ? {} : { http_proxy: proxy.href, https_proxy: proxy.href }
    })
    const options = { agent, timeout: timeoutMillis }
    const send = isTls ? requestTls : requestPlain
    const request = send(`${url.href.replace(/\/$/, "")}/contacts?limit=1`, options, (response) => {
      const { socket } = response
      const tls = socket instanceof TLSSocket ? socket : undefined
      resume(
        Effect.succeed({
          status: response.statusCode ?? 0,
          date: response.headers.date,
          validTo: tls?.getPeerCertificate().valid_to,
          protocol: tls?.getProtocol() ?? undefined
        })
      )
      response.destroy()
    })
    request.on("timeout", () => request.destroy(Object.assign(new Error("no answer"), { code: "ETIMEDOUT" })))
    request.on("error", (error) => resume(Effect.fail(words(url, error, proxy))))
    request.end()
    return Effect.sync(() => request.destroy())
  })

/** With a larger difference keys expire at surprising times. */
const toleratedSkewMillis = 60_000

const clock = (date: string | undefined): Finding => {
  const skew = date === undefined ? Number.NaN : Date.parse(date) - Date.now()
  if (Number.isNaN(skew)) return warning("clock", "the service does not send its time")
  const seconds = Math.round(Math.abs(skew) / 1000)
  return Math.abs(skew) > toleratedSkewMillis
    ? warning("clock", `this machine is ${seconds} s ${skew > 0 ? "behind" : "ahead of"} the service`)
    : ok("clock", `within ${seconds} s of the service`)
}

const dayMillis = 24 * 60 * 60 * 1000

const certificate = ({ protocol, validTo }: Answer): ReadonlyArray<Finding> => {
  if (validTo === undefined) return []
  const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMillis)
  const detail = `${protocol}, the certificate is valid for ${days} more days`
  return [days < 14 ? warning("tls", detail) : ok("tls", detail)]
}

/** Checks name, connection, certificate and clock of a service, one after the other. No key is sent. */
const reachability = Effect.fnUntraced(function* (baseUrl: string) {
  const url = URL.parse(baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return [failed("address", `${baseUrl} is not an address of http or https: give one such as https://example.com/v4`)]
  }
  const proxies = yield* Effect.result(environmentProxies)
  if (Result.isFailure(proxies)) return [failed("connection", proxies.failure.message)]
  const proxy = proxies.success?.proxyFor(url)
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const name = yield* Effect.result(Effect.tryPromise(() => lookup(host, { all: true })))
  // A proxy may resolve names that this machine cannot.
  if (Result.isFailure(name) && proxy === undefined)
    return [failed("name", `${host} cannot be resolved: check how it is spelled, and the network`)]
  const named = Result.isFailure(name)
    ? warning("name", `${host} cannot be resolved here; the proxy may know it`)
    : ok("name", `${host} is ${name.success.map(({ address }) => address).join(", ")}`)
  const answer = yield* Effect.result(ask(url, proxy))
  if (Result.isFailure(answer)) return [named, failed("connection", answer.failure)]
  const plain =
    url.protocol === "http:" && !isLoopbackHost(host)
      ? [warning("tls", "the address is http: keys are sent unencrypted")]
      : []
  return [
    named,
    ok("connection", `it answers a request without a key with ${answer.success.status}`),
    ...plain,
    ...certificate(answer.success),
    clock(answer.success.date)
  ]
})

const key = (on: Extract<Settings, { readonly _tag: "Remote" }>) =>
  Effect.gen(function* () {
    const { ask, shown, source } = yield* probeKey(on)
    const { levels, version = "unknown, as it does not tell" } = yield* ask
    return [
      ok("key", `${shown} from ${source}`),
      ok("version", `that of the service is ${version}`),
      ...levels.map(({ granted, level }) =>
        granted ? ok("level", level) : warning("level", `${level} is missing: requests that need it are refused`)
      )
    ]
  }).pipe(Effect.catch((error) => Effect.succeed([failed("key", error.message)])))

const checkStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [fault] = yield* sql<{ readonly integrity_check: string }>`PRAGMA integrity_check(1)`
  const [count] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM contacts`
  return [
    fault?.integrity_check === "ok"
      ? ok("store", `intact, ${counted(count?.count ?? 0)}`)
      : failed("store", `damaged: ${fault?.integrity_check}. Restore a backup with: roster restore FILE`)
  ]
}).pipe(
  Effect.provide(EmbeddedStore.layer),
  Effect.catch((error) => Effect.succeed([failed("store", error.message)]))
)

/** Checks a store. One that does not exist is not created. */
const store = Effect.fnUntraced(function* (given: string | undefined) {
  const { exists, filename } = yield* EmbeddedStore.storeAt(given)
  const room = yield* diskSpace((yield* Path.Path).dirname(filename))
  return exists
    ? [...(yield* checkStore), yield* lastBackup(filename), ...room]
    : [ok("store", `none yet; an import makes ${filename}`)]
})

/** Checks the service or the store that the settings name. */
const checkTarget = Effect.gen(function* () {
  const on = yield* settingsWithoutKey
  switch (on._tag) {
    case "Local":
      return yield* store(on.filename)
    case "MissingKey": {
      const missing = failed("key", `${on.message} Save one with: roster auth login`)
      return [...(yield* reachability(on.baseUrl)), missing]
    }
    case "Remote":
      return [...(yield* reachability(on.baseUrl)), ...(yield* key(on))]
  }
}).pipe(
  // What is wrong with the file of profiles is a finding of its own.
  Effect.catch((error) => Effect.succeed([failed("settings", error.message)]))
)

export const command = Command.make(
  "doctor",
  { databaseUrl },
  Effect.fnUntraced(function* ({ databaseUrl }) {
    const postgres = yield* database(databaseUrl)
    const target =
      postgres === undefined
        ? checkTarget
        : Effect.flatMap(
            Effect.promise(() => import("@roster/server/PostgresCheck")),
            ({ checkPostgres }) =>
              Effect.zipWith(checkPostgres(postgres), lastBackup(postgres), (found, backup) => [...found, backup])
          )
    const findings = (yield* Effect.all([runtime, configuration, network, folders, unfinishedRuns, target])).flat()
    const rows = findings.map(({ check, detail, result }) => ({ Check: check, Result: result, Detail: detail }))
    yield* Results.rows(["Check", "Result", "Detail"], Stream.fromIterable(rows), { wraps: ["Detail"] })
    const bad = findings.filter(({ result }) => result === "failed")
    if (bad.length > 0)
      return yield* new Unhealthy({ message: `Failed checks: ${bad.map(({ check }) => check).join(", ")}.` })
  })
).pipe(
  Command.withExamples([
    { command: "roster doctor" },
    { command: "roster doctor --database-url postgres://roster@db.example.com/roster" }
  ])
)
