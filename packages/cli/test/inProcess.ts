/**
 * The command line within the test's own process: quick, with its output kept. The store is what the arguments say.
 */
import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { withNamesAttached } from "../src/settings/Arguments.ts"
import { toExitCode } from "../src/main/ErrorReporter.ts"
import { layerExitCodes } from "../src/main/ExitCode.ts"
import * as Help from "../src/main/Help.ts"
import { outputFlags, outputFormat } from "../src/terminal/OutputFlags.ts"
import { noteText, Output } from "../src/terminal/Output.ts"
import { join } from "node:path"
import { roster, withoutHelpForUnknown } from "../src/main/CommandTree.ts"
import { withHelpWord } from "../src/main/StaticHelp.ts"
import * as Signals from "../src/terminal/Signals.ts"
import { version } from "../src/terminal/Version.ts"
import { type Roster, type RunOptions, temporaryFolder } from "./roster.ts"

/** Runs a command line to its exit code, as `bin.ts` does. */
export const runHere = Effect.fnUntraced(function* (
  words: ReadonlyArray<string>,
  options: RunOptions & { readonly isTerminal?: boolean; readonly columns?: number } = {}
) {
  const { columns, env = {}, input = "", isTerminal = false } = options
  const args = withNamesAttached(withoutHelpForUnknown(withHelpWord(words)))
  const { requestedFormat, isQuiet, isWide } = outputFlags(args)
  let stdout = ""
  let stderr = ""
  const say = (text: string) =>
    Effect.sync(() => {
      stderr += text
    })
  const noteTarget = (words: string) => say(`${noteText(requestedFormat, words)}\n`)
  const output = Output.of({
    format: outputFormat(requestedFormat, isTerminal),
    isTerminal,
    width: isWide ? Number.POSITIVE_INFINITY : columns,
    write: (part) =>
      Stream.runForEach(part, (text) =>
        Effect.sync(() => {
          stdout += typeof text === "string" ? text : Buffer.from(text).toString()
        })
      ),
    note: (words) => (isQuiet ? Effect.void : noteTarget(words)),
    noteTarget,
    ask: (question) => say(question),
    noteExactly: (line) => say(`${line}\n`)
  })
  const stdio = Layer.effect(
    Stdio.Stdio,
    Effect.map(Stdio.Stdio, (node) =>
      Stdio.make({
        ...node,
        args: Effect.succeed(words),
        stdin: Stream.make(typeof input === "string" ? new TextEncoder().encode(input) : input),
        stdinIsTerminal: Effect.succeed(false)
      })
    )
  )
  const layer = Layer.mergeAll(
    Help.layer.pipe(Layer.provideMerge(Layer.succeed(Output, output))),
    Layer.succeed(Signals.Signals, Signals.make().service),
    layerExitCodes(() => undefined),
    ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
  ).pipe(Layer.provideMerge(stdio), Layer.provideMerge(NodeServices.layer))
  const code = yield* roster(new Set(args)).pipe(
    Effect.flatMap((command) => Command.runWith(command, { version })(args)),
    toExitCode,
    Effect.provide(layer)
  )
  return { code, stdout, stderr }
})

/** Works in a folder until the end of the test. */
const workIn = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.cwd()
      process.chdir(folder)
      return before
    }),
    (before) => Effect.sync(() => process.chdir(before))
  )

/** What `makeRoster` makes, with commands in this process, which is in their folder until the end of the test. */
export const makeRosterHere = Effect.map(Effect.tap(temporaryFolder, workIn), (folder): Roster => ({
  folder,
  run: (args, { env = {}, ...options } = {}) => runHere(args, { ...options, env: { HOME: folder, ...env } })
}))

/** The same on a store file. */
export const makeLocalRosterHere = Effect.map(makeRosterHere, ({ folder, run }): Roster => ({
  folder,
  run: (args, options) => run([...args, "--db", join(folder, "store.db")], options)
}))
