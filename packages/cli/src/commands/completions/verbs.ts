/** `roster completions` and `commands`: all commands for shells and for programs. */
import { AccessLevel } from "@roster/domain"
import { purposes } from "@roster/domain/Purpose"
import { Effect, Stream } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { globalFlags } from "../../settings/GlobalFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { jsonText } from "../../terminal/Printable.ts"

/** The flags and arguments whose values are files. They are texts where they are read: a path of one is kept as it is given. */
const files = new Set(
  (
    "api-key-file backup db duplicates faults file html-file key-file mapping out plan rejected save-mapping " +
    "snapshot text-file tls-cert tls-key"
  ).split(" ")
)

/** The flags whose values are listed, and are told apart where they are read. */
const listed = new Map<string, ReadonlyArray<string>>([
  ["access", AccessLevel.literals],
  ["for", purposes]
])

const withValues = <A extends Completions.FlagDescriptor | Completions.ArgumentDescriptor>(given: A): A => {
  const values = listed.get(given.name)
  if (files.has(given.name)) return { ...given, type: { _tag: "Path", pathType: "either" } }
  return values === undefined ? given : { ...given, type: { _tag: "Choice", values } }
}

/** The global flags, which descriptors leave out unless a command has them as its own. */
const common = Completions.fromCommand(
  Command.make("common", Object.fromEntries(globalFlags.map(({ flag }, index) => [`flag${index}`, flag])))
).flags.map(withValues)

/** A command with its short name, and those below it. */
interface Described extends Completions.CommandDescriptor {
  readonly alias?: string | undefined
  readonly subcommands: ReadonlyArray<Described>
}

const described = (descriptor: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...descriptor,
  flags: descriptor.flags.map(withValues),
  arguments: descriptor.arguments.map(withValues),
  subcommands: descriptor.subcommands.map(described)
})

/** What every shell takes as it stands. */
const isPlain = (word: string): boolean => /^[\w@%+=:,./-]+$/.test(word)

/** A command without values that a shell would read as something else. */
const plain = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  flags: command.flags.map((flag) =>
    flag.type._tag === "Choice" ? { ...flag, type: { ...flag.type, values: flag.type.values.filter(isPlain) } } : flag
  ),
  subcommands: command.subcommands.map(plain)
})

/** The tree below `roster`, which alone lists the global flags. Each alias is a separate command in it. */
const commandTree = (root: Command.Command.Any): Completions.CommandDescriptor => ({
  ...described(Completions.fromCommand(root)),
  flags: common
})

/** The tree with the aliases at their commands. */
const withoutAliases = (descriptor: Completions.CommandDescriptor, command: Command.Command.Any): Described => {
  const subcommands = command.subcommands.flatMap((group) => group.commands)
  return {
    ...descriptor,
    ...(command.alias === undefined ? {} : { alias: command.alias }),
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

/** How a shell gets its script. */
const install: { readonly [Shell in Completions.Shell]: string } = {
  bash: "roster completions bash > ~/.local/share/bash-completion/completions/roster",
  zsh: 'roster completions zsh > "${fpath[1]}/_roster"',
  fish: "roster completions fish > ~/.config/fish/completions/roster.fish",
  powershell: "roster completions powershell >> $PROFILE"
}

/** Prints the script for a shell. It holds only words of the program: Tab runs nothing and reads no store. */
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
      const script = Completions.generate("roster", shell, plain(commandTree(yield* everyCommand)))
      // Scripts say how programs of Effect print them.
      yield* output.write(Stream.make(`${script.replaceAll("roster --completions", "roster completions")}\n`))
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
