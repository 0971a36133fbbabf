/** What fits a word of a command line that is being typed. */
import { AccessLevel } from "@roster/domain"
import { purposes } from "@roster/domain/Purpose"
import type { Completions } from "effect/cli"

/** Names that only a file or a store of this machine has. */
export type Source = "profiles" | "rules" | "lists" | "fields" | "apikeys" | "smtp" | "runs" | "jobs"

/** A word that fits, and what it is. */
export interface Choice {
  readonly value: string
  readonly description?: string | undefined
}

export interface Fitting {
  /** What stands before the value in the same word, such as `--out=`. */
  readonly prefix: string
  readonly values: ReadonlyArray<Choice> | Source | "files"
  /** What follows a value in the same word, such as the `=` of a field. */
  readonly suffix: string
  /** The flags that name the store or service, as they are given so far. */
  readonly target: ReadonlyArray<string>
}

/** A command with its short name. */
export interface Described extends Completions.CommandDescriptor {
  readonly alias?: string | undefined
  readonly subcommands: ReadonlyArray<Described>
}

type Flag = Completions.FlagDescriptor

/** The flags whose values are files, beside the arguments of `fileArguments`. */
const fileFlags = new Set([
  "api-key-file",
  "backup",
  "db",
  "duplicates",
  "faults",
  "html-file",
  "file",
  "key-file",
  "out",
  "plan",
  "rejected",
  "report",
  "mapping",
  "save-mapping",
  "snapshot",
  "text-file",
  "tls-cert",
  "tls-key"
])

const fileArguments = new Set(["backup", "file", "plan"])

const listed = (values: ReadonlyArray<string>): ReadonlyArray<Choice> => values.map((value) => ({ value }))

const flagValues: Readonly<Record<string, Fitting["values"]>> = {
  access: listed(AccessLevel.literals),
  for: listed(purposes),
  profile: "profiles",
  rule: "rules",
  only: "rules",
  list: "lists",
  on: "lists",
  field: "fields"
}

const argumentValues: Readonly<Record<string, Fitting["values"]>> = {
  list: "lists",
  run: "runs",
  "apikeys name": "apikeys",
  "smtp name": "smtp",
  "profile name": "profiles",
  "jobs id": "jobs"
}

const ofType = (type: Completions.FlagType | Completions.ArgumentType): Fitting["values"] =>
  type._tag === "Choice" ? listed(type.values) : type._tag === "Path" ? "files" : []

const valuesOfFlag = ({ name, type }: Flag): Fitting["values"] =>
  fileFlags.has(name) ? "files" : (flagValues[name] ?? ofType(type))

const valuesOfArgument = (
  { name, type }: Completions.ArgumentDescriptor,
  group: string,
  command: string
): Fitting["values"] =>
  fileArguments.has(name)
    ? "files"
    : // A new name is none of those that exist.
      command === "create"
      ? []
      : (argumentValues[`${group} ${name}`] ?? argumentValues[name] ?? ofType(type))

const flagOf = (flags: ReadonlyArray<Flag>, word: string): Flag | undefined =>
  flags.find(({ aliases, name }) => word === `--${name}` || aliases.some((alias) => word === `-${alias}`))

const targetFlags = new Set(["profile", "base-url", "db"])

/**
 * What fits the last word. `common` has the flags of every command, which stand before the name of a command too; the
 * commands below `root` that the words name have their flags and arguments.
 */
export const fitting = (root: Described, common: ReadonlyArray<Flag>, words: ReadonlyArray<string>): Fitting => {
  let [group, command] = [root, root]
  let places = 0
  let isEnded = false
  let open: Flag | undefined
  const target: Array<string> = []
  const flags = () => (command.subcommands.length === 0 ? command.flags : common)
  const give = (flag: Flag | undefined, value: string) => {
    if (flag !== undefined && targetFlags.has(flag.name)) target.push(`--${flag.name}`, value)
  }
  for (const word of words.slice(0, -1)) {
    if (open !== undefined) {
      give(open, word)
      open = undefined
    } else if (word === "--") isEnded = true
    else if (!isEnded && word.startsWith("-")) {
      const [name = "", ...rest] = word.split("=")
      const flag = flagOf(flags(), name)
      if (rest.length > 0) give(flag, rest.join("="))
      else if (flag !== undefined && flag.type._tag !== "Boolean") open = flag
    } else {
      const named = command.subcommands.find(({ alias, name }) => name === word || alias === word)
      if (named === undefined) places++
      else [group, command] = [command, named]
    }
  }
  const fits = (values: Fitting["values"], prefix = ""): Fitting => ({
    prefix,
    values,
    // `contacts undo` names fields; others give them values.
    suffix: values === "fields" && command.name !== "undo" ? "=" : "",
    target
  })
  const word = words.at(-1) ?? ""
  if (open !== undefined) return fits(valuesOfFlag(open))
  if (!isEnded && word.startsWith("-")) {
    const [name = "", ...rest] = word.split("=")
    const flag = rest.length === 0 ? undefined : flagOf(flags(), name)
    if (flag !== undefined) return fits(valuesOfFlag(flag), `${name}=`)
    return fits(flags().map(({ description, name }) => ({ value: `--${name}`, description })))
  }
  if (command.subcommands.length > 0) {
    const named = command.subcommands.map(({ description, name }) => ({ value: name, description }))
    return fits(places === 0 ? named : [])
  }
  const argument = command.arguments[places] ?? command.arguments.findLast(({ variadic }) => variadic)
  return fits(argument === undefined ? [] : valuesOfArgument(argument, group.name, command.name))
}
