/**
 * `roster auth status`
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { openKey } from "../../../target/TargetLayer.ts"
import * as Results from "../../../terminal/Results.ts"
import { settings } from "../../../settings/Settings.ts"

export const command = Command.make(
  "status",
  {},
  Effect.fnUntraced(function* () {
    const on = yield* settings
    if (on._tag === "Local") {
      const words = "No service is set: commands work on the local store, which needs no key"
      return yield* Results.summary({ target: "local", db: on.filename ?? null }, words)
    }
    const { shown: key, source } = yield* openKey(on)
    yield* Results.summary(
      { target: "remote", baseUrl: on.baseUrl, key, source },
      `${on.baseUrl} with the key ${key} from ${source}`
    )
  })
).pipe(Command.withExamples([{ command: "roster auth status" }]))
