/**
 * Commands whose code is loaded only if the command line names them: loading code takes most of the time of a start. Name,
 * alias and description are known beforehand, for the help of the parent command.
 */
import { Command } from "effect/cli"

/** A command that runs, and the module that exports it. */
export interface Leaf<C extends Command.Command.Any = Command.Command.Any> {
  readonly name: string
  readonly alias?: string
  readonly description: string
  readonly load: () => Promise<{ readonly command: C }>
}

/** A command that only has subcommands. */
export interface Group {
  readonly name: string
  readonly description: string
  readonly examples: ReadonlyArray<Command.Command.Example>
  readonly subcommands: ReadonlyArray<Leaf | Group>
}

/** The union of the commands in a tree. */
export type Loaded<E> =
  E extends Leaf<infer C> ? C : E extends { readonly subcommands: ReadonlyArray<infer Sub> } ? Loaded<Sub> : never

/** The words of a command line, some of which may name commands. */
export interface Words {
  readonly has: (word: string) => boolean
}

/** Matches every name, to load all commands. */
export const everyWord: Words = { has: () => true }

const load = async (entry: Leaf | Group, words: Words): Promise<Command.Command.Any> => {
  if ("load" in entry) {
    const command = Command.withDescription((await entry.load()).command, entry.description)
    return entry.alias === undefined ? command : Command.withAlias(command, entry.alias)
  }
  const { description, examples, name, subcommands } = entry
  return Command.make(name).pipe(
    Command.withDescription(description),
    Command.withExamples(examples),
    Command.withSubcommands(await Promise.all(subcommands.map((sub) => loadNamed(sub, words))))
  )
}

/** A command that is not named becomes a stub, for the help and for suggestions after a typing error. */
const loadNamed = async (entry: Leaf | Group, words: Words): Promise<Command.Command.Any> => {
  const alias = "alias" in entry ? entry.alias : undefined
  if (words.has(entry.name) || (alias !== undefined && words.has(alias))) return load(entry, words)
  const command = Command.make(entry.name).pipe(Command.withDescription(entry.description))
  return alias === undefined ? command : Command.withAlias(command, alias)
}

/** Loads a group with the subcommands that the words name. */
export const loadGroup = async <const G extends Group>(
  group: G,
  words: Words
): Promise<Command.Command<G["name"], {}, {}, Command.Error<Loaded<G>>, Command.Services<Loaded<G>>>> =>
  // The loaded commands are those of the type; the recursion above loses it.
  (await load(group, words)) as Command.Command<
    G["name"],
    {},
    {},
    Command.Error<Loaded<G>>,
    Command.Services<Loaded<G>>
  >
