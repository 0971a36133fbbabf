/** `roster completions` and `commands`: all commands for shells and for programs. */
import { Effect, Stream } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { globalFlags } from "../../settings/GlobalFlags.ts"
import { Output } from "../../terminal/Output.ts"
import { jsonText, printable } from "../../terminal/Printable.ts"
import type { Words } from "../shared/LazyCommands.ts"
import { type Described, fitting } from "./Completing.ts"
import { namesOf } from "./Names.ts"
import { install, scripts } from "./Scripts.ts"

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

/** The words that fit the last of some words, as the scripts read them. */
const answerTo = Effect.fnUntraced(function* (root: Command.Command.Any, words: ReadonlyArray<string>) {
  const { prefix, suffix, target, values } = fitting(withoutAliases(commandTree(root), root), common, words)
  if (values === "files") return `files\t${prefix}\n`
  const choices = typeof values === "string" ? yield* namesOf(values, target) : values
  const typed = words.at(-1) ?? ""
  const lines = choices.flatMap(({ description = "", value }) => {
    const word = `${prefix}${value}${suffix}`
    return word.startsWith(typed) && printable(word) === word ? [`${word}\t${printable(description)}\n`] : []
  })
  return `words\n${lines.join("")}`
})

/** Prints the script for a shell, or what fits words that are typed. */
export const completions = (commandsNamed: (words: Words) => Effect.Effect<Command.Command.Any>) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]).pipe(
        Argument.withDescription("Shell to print the script for")
      ),
      words: Argument.String("words").pipe(
        Argument.withDescription(
          "Words that follow roster, behind --: prints what fits the last of them, as the script asks"
        ),
        Argument.variadic()
      )
    },
    Effect.fnUntraced(function* ({ shell, words: given }) {
      const output = yield* Output
      if (given.length === 0) {
        yield* output.write(Stream.make(`${scripts[shell]}\n`))
        if (output.isTerminal) yield* output.note(`To install it: ${install[shell]}`)
        return
      }
      // Older versions of PowerShell cannot give an empty word.
      const words = given.map((word) => (shell === "powershell" && word === '""' ? "" : word))
      yield* output.write(Stream.make(yield* answerTo(yield* commandsNamed(new Set(words)), words)))
    })
  ).pipe(
    Command.withExamples([
      { command: install.bash, description: "Install for bash; then start a new shell" },
      { command: install.zsh, description: "Install for zsh" },
      { command: install.fish, description: "Install for fish" },
      { command: install.powershell, description: "Install for PowerShell" }
    ])
  )
