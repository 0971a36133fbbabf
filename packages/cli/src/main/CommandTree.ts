/** The commands as data, with the flags that all of them have: for completion scripts and for programs. */
import { Command, Completions } from "effect/cli"
import { globalFlags } from "../settings/GlobalFlags.ts"

/** The global flags, which the descriptor of a command leaves out: a command that has them as its own lists them. */
const common = Completions.fromCommand(
  Command.make("common", Object.fromEntries(globalFlags.map(({ flag }, index) => [`flag${index}`, flag])))
).flags

const withCommonFlags = (descriptor: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...descriptor,
  flags: descriptor.subcommands.length === 0 ? [...descriptor.flags, ...common] : descriptor.flags,
  subcommands: descriptor.subcommands.map(withCommonFlags)
})

/** The tree below a command. An alias is a command of its own in it. */
export const commandTree = (root: Command.Command.Any): Completions.CommandDescriptor =>
  withCommonFlags(Completions.fromCommand(root))

/** The tree without the aliases. */
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
