/**
 * `roster doctor`
 */
import { probeAccess } from "@roster/workflows"
import { Effect, FileSystem, Stream } from "effect"
import { Command } from "effect/cli"
import { SqlClient } from "effect/sql"
import { configPath } from "../../settings/ConfigFile.ts"
import { failed, Finding, ok, Unhealthy, warning } from "./Diagnosis.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { openKey } from "../../target/TargetLayer.ts"
import { reachability } from "./Reachability.ts"
import * as Results from "../../terminal/Results.ts"
import { settings, type Settings } from "../../settings/Settings.ts"

const runtime = Effect.sync((): ReadonlyArray<Finding> => [
  ok("node", `${process.version}, SQLite ${process.versions["sqlite"] ?? "none"}`)
])

const configuration = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = yield* configPath
  return yield* fs.stat(file).pipe(
    Effect.map(({ mode }) =>
      (mode & 0o077) === 0
        ? ok("profiles", file)
        : warning("profiles", `others can read ${file}, and the keys in it: chmod 600 it`)
    ),
    Effect.orElseSucceed(() => ok("profiles", `none; ${file} is not there`)),
    Effect.map((finding): ReadonlyArray<Finding> => [finding])
  )
})

const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"]

/** What the environment says of the way to the network. An address of a proxy can hold a password, so none is shown. */
const network = Effect.sync((): ReadonlyArray<Finding> => {
  const set = proxyVariables.filter((name) => (process.env[name] ?? "") !== "")
  const authorities = process.env["NODE_EXTRA_CA_CERTS"]
  return [
    ok("proxy", set.length === 0 ? "none" : `as ${set.join(", ")} say`),
    ...(authorities === undefined ? [] : [ok("certificates", `also those of ${authorities}`)]),
    ...(process.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0"
      ? [failed("tls", "NODE_TLS_REJECT_UNAUTHORIZED=0 lets anybody read keys: unset it, and use NODE_EXTRA_CA_CERTS")]
      : [])
  ]
})

const key = (on: Extract<Settings, { readonly _tag: "Remote" }>) =>
  Effect.gen(function* () {
    const { services, shown, source } = yield* openKey(on)
    const name = `${shown} from ${source}`
    const levels = yield* probeAccess().pipe(Effect.provide(services))
    return [
      ok("key", name),
      ...levels.map(({ granted, level }) =>
        granted ? ok("level", level) : warning("level", `${level} is lacking: what needs it is refused`)
      )
    ]
  }).pipe(Effect.catch((error) => Effect.succeed([failed("key", error.message)])))

const store = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [fault] = yield* sql<{ readonly integrity_check: string }>`PRAGMA integrity_check(1)`
  const [count] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM contacts`
  return [
    fault?.integrity_check === "ok"
      ? ok("store", `whole, ${count?.count ?? 0} contacts`)
      : failed("store", `damaged: ${fault?.integrity_check}. Restore a backup with: roster restore FILE`)
  ]
}).pipe(
  Effect.provide(EmbeddedStore.layer),
  Effect.catch((error) => Effect.succeed([failed("store", error.message)]))
)

export const command = Command.make(
  "doctor",
  {},
  Effect.fnUntraced(function* () {
    const on = yield* settings
    const target =
      on._tag === "Local" ? store : Effect.zipWith(reachability(on.baseUrl), key(on), (a, b) => [...a, ...b])
    const findings = (yield* Effect.all([runtime, configuration, network, target])).flat()
    yield* Results.records(Finding, ["Check", "Result", "Detail"], Stream.fromIterable(findings))
    const bad = findings.filter(({ result }) => result === "failed")
    if (bad.length > 0)
      return yield* new Unhealthy({ message: `Not in order: ${bad.map(({ check }) => check).join(", ")}.` })
  })
).pipe(Command.withExamples([{ command: "roster doctor" }]))
