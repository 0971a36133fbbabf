/** `roster status` */
import { versionHeader } from "@roster/api"
import { RosterClient } from "@roster/http-client"
import { probeAccess } from "@roster/workflows"
import { Effect, Result } from "effect"
import { Command } from "effect/cli"
import { HttpClient } from "effect/http"
import { originOf, settingsWithoutKey } from "../../settings/Settings.ts"
import { defaultStorePath } from "../../target/EmbeddedStore.ts"
import { openKey } from "../../target/TargetLayer.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"

export const command = Command.make(
  "status",
  {},
  Effect.fnUntraced(function* () {
    const on = yield* settingsWithoutKey
    if (on._tag === "Local") {
      const db = on.filename ?? (yield* defaultStorePath)
      const from = on.filename === undefined ? null : ((yield* originOf("db")) ?? null)
      const words = from === null ? `${db}, the default` : `${db} from ${from}`
      return yield* Results.summary({ target: "local", db, from }, `store    ${words}, which needs no key`)
    }
    const { baseUrl } = on
    const from = (yield* originOf("baseUrl")) ?? null
    const service = { target: "remote", baseUrl, from }
    const line = `service  ${baseUrl} from ${from}`
    if (on._tag === "MissingKey") {
      yield* Results.summary({ ...service, key: null, source: null }, `${line}\nkey      none`)
      return yield* on
    }
    const { services, shown: key, source } = yield* openKey(on)
    let version: string | null = null
    const probe = probeAccess().pipe(
      RosterClient.withClientTransform(
        HttpClient.tap(({ headers }) => Effect.sync(() => (version ??= headers[versionHeader] ?? null)))
      ),
      Effect.provide(services)
    )
    const probed = yield* Effect.result(probe)
    const levels = Result.getOrElse(probed, () => [])
    const named = (isGranted: boolean) => levels.flatMap(({ granted, level }) => (granted === isGranted ? [level] : []))
    const [granted, lacking] = [named(true), named(false)]
    const words = [
      line,
      `key      ${key} from ${source}`,
      ...(version === null ? [] : [`version  ${version}`]),
      ...(Result.isSuccess(probed) ? [`may      ${granted.join(", ") || "nothing that read requests can show"}`] : []),
      ...(lacking.length === 0 ? [] : [`may not  ${lacking.join(", ")}`])
    ]
    const keyFacts = Result.isSuccess(probed) ? { version, granted, lacking } : {}
    yield* Results.summary({ ...service, key, source, ...keyFacts }, words.join("\n"))
    yield* Effect.fromResult(probed)
    yield* (yield* Output).note(
      "Levels for writing cannot be tested with read requests; a key with the level Security can see all levels with: roster apikeys list"
    )
  })
).pipe(Command.withExamples([{ command: "roster status" }, { command: "roster status -o json" }]))
