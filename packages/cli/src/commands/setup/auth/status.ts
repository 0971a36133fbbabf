/** `roster auth status` */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { openKey } from "../../../target/TargetLayer.ts"
import { settingsWithoutKey } from "../../../settings/Settings.ts"
import * as Results from "../../../terminal/Results.ts"

export const command = Command.make(
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
