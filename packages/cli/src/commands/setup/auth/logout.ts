/** `roster auth logout` */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { usageError } from "../../../errors/UsageError.ts"
import { changeConfig } from "../../../settings/ConfigFile.ts"
import { profileInUse } from "../../../settings/Settings.ts"
import * as Results from "../../../terminal/Results.ts"

export const command = Command.make(
  "logout",
  {},
  Effect.fnUntraced(function* () {
    const profile = yield* profileInUse
    if (profile === undefined) return yield* usageError("No profile is in use.", "See: roster profile list")
    const { name } = profile
    yield* changeConfig((before) => {
      const {
        apiKey: _key,
        credentialProcess: _command,
        ...rest
      } = before.profiles[name] ?? { baseUrl: profile.baseUrl }
      return Effect.succeed({ ...before, profiles: { ...before.profiles, [name]: rest } })
    })
    yield* Results.done(`Removed the key from the profile ${name}. It is still valid at the service`)
  })
).pipe(Command.withExamples([{ command: "roster auth logout --profile work" }]))
