/** `roster profile list`, `use` and `remove` */
import { Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { usageError } from "../../../errors/UsageError.ts"
import { changeConfig, type Configuration, readConfig } from "../../../settings/ConfigFile.ts"
import { localProfile, ProfileName } from "../../../settings/Profile.ts"
import * as Results from "../../../terminal/Results.ts"
import { argument, withExamples } from "../../shared/CommonFlags.ts"

const name = argument("name", ProfileName, "Name of the profile")

const checkKnown = ({ profiles }: Configuration, name: ProfileName) =>
  Object.hasOwn(profiles, name)
    ? Effect.void
    : Effect.fail(
        usageError(`There is no profile "${name}".`, `Profiles: ${[...Object.keys(profiles), localProfile].join(", ")}`)
      )

export const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const { profile, profiles } = yield* readConfig
    const rows = Object.entries(profiles).map(([name, { apiKey, baseUrl, credentialProcess }]) => ({
      Name: name,
      InUse: name === profile,
      BaseUrl: baseUrl,
      Key: credentialProcess !== undefined ? "from a command" : apiKey === undefined ? "none" : "kept here"
    }))
    yield* Results.rows(["Name", "InUse", "BaseUrl", "Key"], Stream.fromIterable(rows))
  })
).pipe(Command.withExamples([{ command: "roster profile list" }]))

export const use = Command.make(
  "use",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    if (name === localProfile && !Object.hasOwn((yield* readConfig).profiles, name)) {
      yield* changeConfig(({ profile: _profile, ...rest }) => Effect.succeed(rest))
      return yield* Results.done("Commands use the local store again; the profiles stay")
    }
    yield* changeConfig((before) => Effect.as(checkKnown(before, name), { ...before, profile: name }))
    yield* Results.done(`The profile ${name} is now the default`)
  })
).pipe(withExamples({ "roster profile use production": "", "roster profile use local": "Go back to the local store" }))

export const remove = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    yield* changeConfig(
      Effect.fnUntraced(function* ({ profile, profiles, ...others }) {
        yield* checkKnown({ profiles }, name)
        const { [name]: _removed, ...rest } = profiles
        return { ...others, ...(profile === undefined || profile === name ? {} : { profile }), profiles: rest }
      })
    )
    yield* Results.done(`Removed the profile ${name} and its key`)
  })
).pipe(Command.withExamples([{ command: "roster profile remove staging" }]))
