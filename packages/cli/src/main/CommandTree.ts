/**
 * The commands as data, for shells and programs: with the flags that all of them have.
 */
import { Effect } from "effect"
import { Command, Completions } from "effect/cli"
import { globalFlags } from "../settings/GlobalFlags.ts"
import { everyWord } from "../commands/shared/LazyCommands.ts"

/** All commands. The commands that ask for them are among them. */
export const everyCommand: Effect.Effect<Command.Command.Any> = Effect.flatMap(
  Effect.promise(() => import("./Roster.ts")),
  ({ roster }) => roster(everyWord)
)

/** The descriptor of a command leaves the global flags out; that of a command that has them as its own does not. */
const common = Completions.fromCommand(
  Command.make("common", Object.fromEntries(globalFlags.map(({ flag }, index) => [`flag${index}`, flag])))
).flags

const withCommonFlags = (descriptor: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...descriptor,
  flags: descriptor.subcommands.length === 0 ? [...descriptor.flags, ...common] : descriptor.flags,
  subcommands: descriptor.subcommands.map(withCommonFlags)
})

/** Every command, under its name and under its short name. */
export const commandTree = (root: Command.Command.Any): Completions.CommandDescriptor =>
  withCommonFlags(Completions.fromCommand(root))

/** A tree without the short names, each of which is a command of its own to a shell. */
export const withoutAliases = (
  descriptor: Completions.CommandDescriptor,
  command: Command.Command.Any
): Completions.CommandDescriptor => {
  const subcommands = command.subcommands.flatMap((group) => group.commands)
  return {
    ...descriptor,
    subcommands: descriptor.subcommands.flatMap((sub) => {
      const named = subcommands.find(({ name }) => name === sub.name)
      return named === undefined ? [] : [withoutAliases(sub, named)]
    })
  }
}
