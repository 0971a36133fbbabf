/** `roster config list` */
import { apiKeyHeader } from "@roster/api"
import { Effect, Redacted, Stream } from "effect"
import { Command } from "effect/cli"
import { configPath } from "../../../settings/ConfigFile.ts"
import { toggle } from "../../../settings/FlagForms.ts"
import { maskedKey } from "../../../settings/ApiKeySource.ts"
import * as Results from "../../../terminal/Results.ts"
import { environment, flags, profileInUse } from "../../../settings/Settings.ts"

type Candidate = readonly [value: string | boolean | undefined, origin: string]

export const command = Command.make(
  "list",
  { showOrigin: toggle("show-origin", "Show where each value comes from") },
  Effect.fnUntraced(function* ({ showOrigin }) {
    const flag = yield* flags
    const env = yield* environment
    const profile = yield* profileInUse
    const ofProfile = profile === undefined ? "" : `the profile ${profile.name} in ${yield* configPath}`
    const masked = (key: Redacted.Redacted<string> | undefined) =>
      key === undefined ? undefined : maskedKey(Redacted.value(key))
    const command = profile?.credentialProcess === undefined ? undefined : `printed by: ${profile.credentialProcess}`
    const isElsewhere = (flag.baseUrl ?? env.baseUrl ?? flag.db ?? env.db) !== undefined
    const kept = isElsewhere ? undefined : profile
    const settings: ReadonlyArray<readonly [name: string, ...candidates: ReadonlyArray<Candidate>]> = [
      ["profile", [profile?.name, "--profile, ROSTER_PROFILE or roster profile use"]],
      ["base-url", [flag.baseUrl, "--base-url"], [env.baseUrl, "ROSTER_BASE_URL"], [kept?.baseUrl, ofProfile]],
      [
        "api-key",
        [flag.apiKeyFile === undefined ? undefined : `in ${flag.apiKeyFile}`, "--api-key-file"],
        [masked(env.apiKey), "ROSTER_API_KEY"],
        [kept === undefined ? undefined : (command ?? masked(kept.apiKey)), ofProfile]
      ],
      [
        "api-key-header",
        [flag.apiKeyHeader, "--api-key-header"],
        [env.apiKeyHeader, "ROSTER_API_KEY_HEADER"],
        [kept?.apiKeyHeader, ofProfile],
        [apiKeyHeader, "default"]
      ],
      [
        "api-key-prefix",
        [flag.apiKeyPrefix, "--api-key-prefix"],
        [env.apiKeyPrefix, "ROSTER_API_KEY_PREFIX"],
        [kept?.apiKeyPrefix, ofProfile]
      ],
      ["db", [flag.db, "--db"], [env.db, "ROSTER_DB"]],
      [
        "require-remote",
        // Either of them is enough.
        [env.requireRemote === true ? true : undefined, "ROSTER_REQUIRE_REMOTE"],
        [profile?.requireRemote, ofProfile],
        [env.requireRemote, "ROSTER_REQUIRE_REMOTE"]
      ]
    ]
    const rows = settings.flatMap(([Setting, ...candidates]) => {
      const [value, origin] = candidates.find(([candidate]) => candidate !== undefined) ?? []
      return value === undefined
        ? []
        : [{ Setting, Value: String(value), ...(showOrigin && origin !== undefined ? { Origin: origin } : {}) }]
    })
    const columns = showOrigin ? (["Setting", "Value", "Origin"] as const) : (["Setting", "Value"] as const)
    yield* Results.rows(columns, Stream.fromIterable(rows), { wraps: ["Value", "Origin"] })
  })
).pipe(Command.withExamples([{ command: "roster config list --show-origin" }]))
