/** Commands whose code is loaded only if the command line names them, since loading takes most of the start-up time. */
import { Command } from "effect/cli"
import { toggles } from "../../settings/GlobalFlags.ts"

/** A command that runs, and the module that exports it. */
interface Leaf<C extends Command.Command.Any = Command.Command.Any> {
  readonly description: string
  readonly load: () => Promise<{ readonly command: C }>
}

/** A command that only has subcommands. */
export interface Group {
  readonly description: string
  readonly examples: ReadonlyArray<Command.Command.Example>
  readonly subcommands: { readonly [name: string]: Leaf | Group }
}

/** The union of the commands in a tree. */
export type Loaded<E> =
  E extends Leaf<infer C>
    ? C
    : E extends { readonly subcommands: infer Subs extends Group["subcommands"] }
      ? Loaded<Subs[keyof Subs]>
      : never

/** The words of a command line, some of which may name commands. */
export interface Words {
  readonly has: (word: string) => boolean
}

/** Matches every name, to load all commands. */
export const everyWord: Words = { has: () => true }

/** The short names that a subcommand of this name has, if none before it in its group has that. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["list", "ls"],
  ["delete", "rm"],
  ["remove", "rm"]
])

/** Whether words name a command that there is not. Only flags of every command stand before the name of a command. */
export const isUnknown = (entry: Leaf | Group, [word = "--", ...rest]: ReadonlyArray<string>): boolean => {
  if ("load" in entry || word === "--") return false
  if (word.startsWith("-")) return isUnknown(entry, word.includes("=") || toggles.has(word) ? rest : rest.slice(1))
  const named = Object.entries(entry.subcommands).find(([name]) => name === word || aliases.get(name) === word)
  return named === undefined || isUnknown(named[1], rest)
}

const load = async (name: string, entry: Leaf | Group, words: Words): Promise<Command.Command.Any> => {
  if ("load" in entry) return (await entry.load()).command
  const taken = new Set<string>()
  const subcommands = Object.entries(entry.subcommands).map(async ([name, sub]) => {
    const short = aliases.get(name)
    const alias = short === undefined || taken.has(short) ? undefined : short
    taken.add(alias ?? name)
    const isNamed = words.has(name) || (alias !== undefined && words.has(alias))
    // A command that is not named becomes a stub, for the help and for suggestions after a typing error.
    const command = isNamed ? await load(name, sub, words) : Command.make(name)
    const described = Command.withDescription(command, sub.description)
    return alias === undefined ? described : Command.withAlias(described, alias)
  })
  return Command.make(name).pipe(
    Command.withDescription(entry.description),
    Command.withExamples(entry.examples),
    Command.withSubcommands(await Promise.all(subcommands))
  )
}

/** Loads a group with the subcommands that the words name. */
export const loadGroup = async <const Name extends string, const G extends Group>(name: Name, group: G, words: Words) =>
  // The loaded commands are those of the type; the recursion above loses it.
  (await load(name, group, words)) as Command.Command<
    Name,
    {},
    {},
    Command.Error<Loaded<G>>,
    Command.Services<Loaded<G>>
  >
