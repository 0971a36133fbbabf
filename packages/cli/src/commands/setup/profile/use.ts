/**
 * `roster profile use`
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changeConfig } from "../../../settings/ConfigFile.ts"
import * as Results from "../../../terminal/Results.ts"
import { checkKnown, name } from "./name.ts"

export const command = Command.make(
  "use",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    yield* changeConfig((before) => Effect.as(checkKnown(before, name), { ...before, profile: name }))
    yield* Results.done(`The profile ${name} is in use from now on`)
  })
).pipe(Command.withExamples([{ command: "roster profile use production" }]))
