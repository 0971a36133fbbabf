/** `roster commands` */
import { Effect, Stream } from "effect"
import { Command, type Completions } from "effect/cli"
import { commandTree, withoutAliases } from "./CommandTree.ts"
import { Output } from "../terminal/Output.ts"
import { jsonText } from "../terminal/Printable.ts"

const paths = (command: Completions.CommandDescriptor, above = ""): ReadonlyArray<string> => {
  const path = `${above}${command.name}`
  return command.subcommands.length === 0
    ? [`${path}  ${command.description ?? ""}`]
    : command.subcommands.flatMap((sub) => paths(sub, `${path} `))
}

/** Lists the commands below `everyCommand`, among which it is itself. */
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
