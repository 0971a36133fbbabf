/**
 * `roster profile remove`
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changeConfig } from "../../../settings/ConfigFile.ts"
import * as Results from "../../../terminal/Results.ts"
import { checkKnown, name } from "./name.ts"

export const command = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    yield* changeConfig(
      Effect.fnUntraced(function* ({ profile, profiles }) {
        yield* checkKnown({ profiles }, name)
        const { [name]: _removed, ...rest } = profiles
        return { ...(profile === undefined || profile === name ? {} : { profile }), profiles: rest }
      })
    )
    yield* Results.done(`The profile ${name} is removed, with the key that was kept in it`)
  })
).pipe(Command.withExamples([{ command: "roster profile remove staging" }]))
