/** `roster completions` and `commands`: all commands for shells and for programs. */
import { purposes } from "@roster/domain/Purpose"
import { AccessLevel } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Argument, Command, Completions } from "effect/cli"
import { globalFlags } from "../../settings/GlobalFlags.ts"
import { localProfile } from "../../settings/Profile.ts"
import { Output } from "../../terminal/Output.ts"
import { jsonText } from "../../terminal/Printable.ts"

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

/** The flags whose values are files, beside the arguments of `fileArguments`. */
const fileFlags = new Set([
  "api-key-file",
  "backup",
  "db",
  "faults",
  "html-file",
  "file",
  "key-file",
  "out",
  "plan",
  "rejected",
  "mapping",
  "save-mapping",
  "snapshot",
  "text-file",
  "tls-cert",
  "tls-key"
])

const fileArguments = new Set(["backup", "file", "plan"])

/** Stands in a script for the names of the profiles, which the script asks the program for. */
const profileNames = "ROSTER_PROFILE_NAMES"

type ValueType = Completions.FlagType & Completions.ArgumentType

const choice = (values: ReadonlyArray<string>): ValueType => ({ _tag: "Choice", values })

/** How the value of a flag or an argument is completed, where its type does not say. */
const valueType = (name: string, kind: "flag" | "argument", command: string): ValueType | undefined => {
  if (kind === "flag" ? fileFlags.has(name) : fileArguments.has(name)) return { _tag: "Path", pathType: "file" }
  if (kind === "flag" && name === "access") return choice(AccessLevel.literals)
  if (kind === "flag" && name === "for") return choice(purposes)
  const isProfile = kind === "flag" ? name === "profile" : name === "name" && command === "profile"
  return isProfile ? choice([profileNames, localProfile]) : undefined
}

/** Adds how values are completed to the tree. */
const withValues = (descriptor: Completions.CommandDescriptor, group = ""): Completions.CommandDescriptor => ({
  ...descriptor,
  flags: descriptor.flags.map((flag) => ({ ...flag, type: valueType(flag.name, "flag", group) ?? flag.type })),
  arguments: descriptor.arguments.map((argument) => ({
    ...argument,
    type: valueType(argument.name, "argument", group) ?? argument.type
  })),
  subcommands: descriptor.subcommands.map((sub) => withValues(sub, descriptor.name))
})

const listProfiles = `roster profile list -o ndjson 2>/dev/null | sed -n 's/^{"Name":"\\([^"]*\\)".*/\\1/p'`

/** The script for a shell. All of it is static, but for the names of profiles. */
const scriptFor = (root: Completions.CommandDescriptor, shell: Completions.Shell): string => {
  const script = Completions.generate(root.name, shell, withValues(root)).trimEnd()
  switch (shell) {
    case "bash":
      return script.replaceAll(`'${profileNames}'`, `$(${listProfiles})`)
    case "zsh": {
      const names = `_roster_profile_names() { compadd -- ${localProfile} \${(f)"$(${listProfiles})"} }`
      const [first = "", ...rest] = script
        .replaceAll(new RegExp(`\\(${profileNames}[^)]*\\)`, "g"), "_roster_profile_names")
        .split("\n")
      // The first line tells zsh which command the script completes.
      return [first, names, ...rest].join("\n")
    }
    case "fish":
      return [
        `function __roster_profile_names; ${listProfiles}; end`,
        script.replaceAll(profileNames, "(__roster_profile_names)")
      ].join("\n")
    case "powershell":
      return Completions.generate(root.name, shell, root).trimEnd()
  }
}

const install: { readonly [Shell in Completions.Shell]: string } = {
  bash: "roster completions bash > ~/.local/share/bash-completion/completions/roster",
  zsh: 'roster completions zsh > "${fpath[1]}/_roster"',
  fish: "roster completions fish > ~/.config/fish/completions/roster.fish",
  powershell: "roster completions powershell >> $PROFILE"
}

/** Prints the script for the commands below `everyCommand`. A shell starts `roster` only for the names of profiles. */
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
      yield* output.write(Stream.make(`${scriptFor(commandTree(root), shell)}\n`))
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
