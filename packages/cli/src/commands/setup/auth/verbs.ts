/** `roster auth status` and `logout` */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { usageError } from "../../../errors/UsageError.ts"
import { changeConfig } from "../../../settings/ConfigFile.ts"
import { profileInUse, settingsWithoutKey } from "../../../settings/Settings.ts"
import { openKey } from "../../../target/TargetLayer.ts"
import * as Results from "../../../terminal/Results.ts"

export const status = Command.make(
  "status",
  {},
  Effect.fnUntraced(function* () {
    const on = yield* settingsWithoutKey
    if (on._tag === "Local") {
      const words = "No service is configured: commands use the local store, which needs no key"
      return yield* Results.summary({ target: "local", db: on.filename ?? null }, words)
    }
    const { baseUrl } = on
    if (on._tag === "MissingKey") {
      const words = `${baseUrl} without a key. Save one with: roster auth login`
      return yield* Results.summary({ target: "remote", baseUrl, key: null, source: null }, words)
    }
    const { shown: key, source } = yield* openKey(on)
    yield* Results.summary({ target: "remote", baseUrl, key, source }, `${baseUrl} with the key ${key} from ${source}`)
  })
).pipe(Command.withExamples([{ command: "roster auth status" }]))

export const logout = Command.make(
  "logout",
  {},
  Effect.fnUntraced(function* () {
    const found = yield* profileInUse
    if (found === undefined) return yield* usageError("No profile is in use.", "See: roster profile list")
    const { name } = found
    yield* changeConfig((before) => {
      const { apiKey: _key, credentialProcess: _command, ...rest } = before.profiles[name] ?? { baseUrl: found.baseUrl }
      return Effect.succeed({ ...before, profiles: { ...before.profiles, [name]: rest } })
    })
    yield* Results.done(`Removed the key from the profile ${name}. It is still valid at the service`)
  })
).pipe(Command.withExamples([{ command: "roster auth logout --profile work" }]))
