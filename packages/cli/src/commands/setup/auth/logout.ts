/**
 * `roster auth logout`
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changeConfig } from "../../../settings/ConfigFile.ts"
import * as Results from "../../../terminal/Results.ts"
import { profileInUse } from "../../../settings/Settings.ts"
import { usageError } from "../../../errors/UsageError.ts"

export const command = Command.make(
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
    yield* Results.done(`The key of ${name} is forgotten here. At the service it is as good as before`)
  })
).pipe(Command.withExamples([{ command: "roster auth logout --profile work" }]))
