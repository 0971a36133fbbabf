/** `roster whoami` */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { toggle } from "../../settings/FlagForms.ts"
import { withExamples } from "../shared/CommonFlags.ts"
import { probeKey } from "./KeyProbe.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"
import { settingsWithoutKey } from "../../settings/Settings.ts"

export const command = Command.make(
  "whoami",
  { offline: toggle("offline", "Send no request; do not check the access levels") },
  Effect.fnUntraced(function* ({ offline }) {
    const on = yield* settingsWithoutKey
    if (on._tag === "Local") {
      return yield* Results.summary(
        { target: "local", db: on.filename ?? null, levels: "all" },
        `Local store ${on.filename ?? "of this user"}, with full access`
      )
    }
    const { baseUrl } = on
    if (on._tag === "MissingKey") {
      const none = { target: "remote", baseUrl, key: null, source: null }
      yield* Results.summary(none, `target   ${baseUrl}\nkey      none`)
      return yield* on
    }
    const { ask, shown: key, source } = yield* probeKey(on)
    const { levels, version } = offline ? { levels: [] } : yield* ask
    const granted = levels.filter((level) => level.granted).map(({ level }) => level)
    const lacking = levels.filter((level) => !level.granted).map(({ level }) => level)
    const words = [
      `target   ${baseUrl}`,
      `key      ${key} from ${source}`,
      ...(version === undefined ? [] : [`version  ${version}`]),
      ...(offline ? [] : [`may      ${granted.join(", ") || "nothing that read requests can show"}`]),
      ...(lacking.length === 0 ? [] : [`may not  ${lacking.join(", ")}`])
    ]
    const facts = {
      target: "remote",
      baseUrl,
      key,
      source,
      ...(offline ? {} : { version: version ?? null, granted, lacking })
    }
    yield* Results.summary(facts, words.join("\n"))
    if (!offline) {
      yield* (yield* Output).note(
        "Levels for writing cannot be tested with read requests; a key with the level Security can see all " +
          "levels with: roster apikeys list"
      )
    }
  })
).pipe(
  withExamples({
    "roster whoami": "",
    "roster whoami --offline -o json": ""
  })
)
