/** Collects the help of every command, as the program itself prints it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Stream } from "effect"
import { Command } from "effect/cli"
import { everyCommand, roster } from "../packages/cli/src/main/CommandTree.ts"
import * as Help from "../packages/cli/src/main/Help.ts"
import { Output } from "../packages/cli/src/terminal/Output.ts"
import type { HelpPages } from "../packages/cli/src/main/StaticHelp.ts"
import { layerExitCodes } from "../packages/cli/src/main/ExitCode.ts"
import * as Signals from "../packages/cli/src/terminal/Signals.ts"
import { everyWord } from "../packages/cli/src/commands/shared/LazyCommands.ts"
import { version } from "../packages/cli/src/terminal/Version.ts"

const pathsOf = (command: Command.Command.Any, path: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => [
  path,
  ...command.subcommands.flatMap(({ commands }) => commands.flatMap((sub) => pathsOf(sub, [...path, sub.name])))
]

const pageOf = Effect.fnUntraced(function* (path: ReadonlyArray<string>) {
  let page = ""
  const say = (text: string) =>
    Effect.sync(() => {
      page += text
    })
  const output = Output.of({
    format: "json",
    isTerminal: false,
    width: undefined,
    write: (part) => Stream.runForEach(part, (text) => say(String(text))),
    note: say,
    noteTarget: say,
    ask: say,
    noteExactly: say
  })
  const layer = Layer.mergeAll(
    Help.layer.pipe(Layer.provideMerge(Layer.succeed(Output, output))),
    Layer.succeed(Signals.Signals, Signals.make().service),
    layerExitCodes(() => undefined)
  ).pipe(Layer.provideMerge(NodeServices.layer))
  yield* Effect.flatMap(roster(everyWord), (command) =>
    Command.runWith(command, { version })([...path, "--help"])
  ).pipe(Effect.provide(layer))
  return page
})

/** The help pages by the words before `--help`. */
export const helpPages: Effect.Effect<HelpPages, unknown> = Effect.gen(function* () {
  const pages = yield* Effect.forEach(pathsOf(yield* everyCommand, []), (path) =>
    Effect.map(pageOf(path), (page) => [path.join(" "), page] as const)
  )
  return Object.fromEntries(pages)
})
