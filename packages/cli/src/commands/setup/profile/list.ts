/**
 * `roster profile list`
 */
import { Effect, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { readConfig } from "../../../settings/ConfigFile.ts"
import * as Results from "../../../terminal/Results.ts"

/** What of a profile is shown: never its key. */
const Row = Schema.Struct({
  name: Schema.String,
  inUse: Schema.Boolean,
  baseUrl: Schema.String,
  key: Schema.Literals(["kept here", "from a command", "none"])
}).pipe(Schema.encodeKeys({ name: "Name", inUse: "InUse", baseUrl: "BaseUrl", key: "Key" }))

export const command = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const { profile, profiles } = yield* readConfig
    const rows = Object.entries(profiles).map(([name, { apiKey, baseUrl, credentialProcess }]): typeof Row.Type => ({
      name,
      inUse: name === profile,
      baseUrl,
      key: credentialProcess !== undefined ? "from a command" : apiKey === undefined ? "none" : "kept here"
    }))
    yield* Results.records(Row, ["Name", "InUse", "BaseUrl", "Key"], Stream.fromIterable(rows))
  })
).pipe(Command.withExamples([{ command: "roster profile list" }]))
