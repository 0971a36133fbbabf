/**
 * The commands by name: what the help of the command above says of them, and where the code of each is. A command line is
 * run with the code of the commands that it names and no other, since it is what a start waits for most.
 */
import { Command } from "effect/cli"

/** A command of its own: a module that exports it. */
export interface Leaf<C extends Command.Command.Any = Command.Command.Any> {
  readonly name: string
  readonly alias?: string
  readonly description: string
  readonly load: () => Promise<{ readonly command: C }>
}

/** A command that does nothing but have others. */
export interface Group {
  readonly name: string
  readonly description: string
  readonly examples: ReadonlyArray<Command.Command.Example>
  readonly subcommands: ReadonlyArray<Leaf | Group>
}

/** The commands that could come to run. */
export type Loaded<E> =
  E extends Leaf<infer C> ? C : E extends { readonly subcommands: ReadonlyArray<infer Sub> } ? Loaded<Sub> : never

/** Words among which names of commands may be: those of a command line. */
export interface Words {
  readonly has: (word: string) => boolean
}

/** Every name. */
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

/** A command that is not named has to be there all the same, for help and for whoever mistypes another one. */
const loadNamed = async (entry: Leaf | Group, words: Words): Promise<Command.Command.Any> => {
  const alias = "alias" in entry ? entry.alias : undefined
  if (words.has(entry.name) || (alias !== undefined && words.has(alias))) return load(entry, words)
  const command = Command.make(entry.name).pipe(Command.withDescription(entry.description))
  return alias === undefined ? command : Command.withAlias(command, alias)
}

/** The command of a group, with those below it that are named. */
export const loadGroup = async <const G extends Group>(
  group: G,
  words: Words
): Promise<Command.Command<G["name"], {}, {}, Command.Error<Loaded<G>>, Command.Services<Loaded<G>>>> =>
  // What is loaded is made of the very commands that the type is made of.
  (await load(group, words)) as Command.Command<
    G["name"],
    {},
    {},
    Command.Error<Loaded<G>>,
    Command.Services<Loaded<G>>
  >
