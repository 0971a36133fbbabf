/** `roster commands` and `roster completions`, which print the tree of all commands for programs and for shells. */
import { Effect, Stream } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { globalFlags } from "../settings/GlobalFlags.ts"
import { Output } from "../terminal/Output.ts"
import { jsonText } from "../terminal/Printable.ts"

/** The global flags, which descriptors omit unless a command has them as its own. */
const common = Completions.fromCommand(
  Command.make("common", Object.fromEntries(globalFlags.map(({ flag }, index) => [`flag${index}`, flag])))
).flags

const withCommonFlags = (descriptor: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...descriptor,
  flags: descriptor.subcommands.length === 0 ? [...descriptor.flags, ...common] : descriptor.flags,
  subcommands: descriptor.subcommands.map(withCommonFlags)
})

/** The tree below a command. Each alias is a separate command in it. */
const commandTree = (root: Command.Command.Any): Completions.CommandDescriptor =>
  withCommonFlags(Completions.fromCommand(root))

/** The tree without the aliases. */
const withoutAliases = (
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

const paths = (command: Completions.CommandDescriptor, above = ""): ReadonlyArray<string> => {
  const path = `${above}${command.name}`
  return command.subcommands.length === 0
    ? [`${path}  ${command.description ?? ""}`]
    : command.subcommands.flatMap((sub) => paths(sub, `${path} `))
}

/** Lists the commands below `everyCommand`, including itself. */
export const commands = (everyCommand: Effect.Effect<Command.Command.Any>) =>
  Command.make(
    "commands",
    {},
    Effect.fnUntraced(function* () {
      const output = yield* Output
      const root = yield* everyCommand
      const tree = withoutAliases(commandTree(root), root)
      const text = output.format === "table" ? paths(tree).join("\n") : jsonText(tree)
      yield* output.write(Stream.make(`${text}\n`))
    })
  ).pipe(Command.withExamples([{ command: "roster commands -o json" }]))

const install: { readonly [Shell in Completions.Shell]: string } = {
  bash: "roster completions bash > ~/.local/share/bash-completion/completions/roster",
  zsh: 'roster completions zsh > "${fpath[1]}/_roster"',
  fish: "roster completions fish > ~/.config/fish/completions/roster.fish",
  powershell: "roster completions powershell >> $PROFILE"
}

/** Prints the script for the commands below `everyCommand`. It is static: no shell starts `roster` to complete a word. */
export const completions = (everyCommand: Effect.Effect<Command.Command.Any>) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]).pipe(
        Argument.withDescription("Shell to print the script for")
      )
    },
    Effect.fnUntraced(function* ({ shell }) {
      const output = yield* Output
      const root = yield* everyCommand
      const script = Completions.generate(root.name, shell, commandTree(root))
      yield* output.write(Stream.make(`${script.trimEnd()}\n`))
      if (output.isTerminal) yield* output.note(`To install it: ${install[shell]}`)
    })
  ).pipe(
    Command.withExamples([
      { command: install.bash, description: "Install for bash; then start a new shell" },
      { command: install.zsh, description: "Install for zsh" },
      { command: install.fish, description: "Install for fish" },
      { command: install.powershell, description: "Install for PowerShell" }
    ])
  )
