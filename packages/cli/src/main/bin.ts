/**
 * The entry of the program, and the only place that provides its layers. It handles signals, and exits as soon as the
 * command ends.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Layer, Logger, Predicate, Runtime, Stdio } from "effect"
import { Command } from "effect/cli"
import { checkArguments, withNamesAttached } from "../settings/Arguments.ts"
import { toExitCode } from "./ErrorReporter.ts"
import * as Help from "./Help.ts"
import { outputFlags } from "../terminal/OutputFlags.ts"
import { exitCode, layerExitCodes } from "./ExitCode.ts"
import * as Output from "../terminal/Output.ts"
import { roster, withoutHelpForUnknown } from "./CommandTree.ts"
import { withHelpWord } from "./StaticHelp.ts"
import * as Signals from "../terminal/Signals.ts"
import { withTimeout } from "../target/TimeLimit.ts"
import { version } from "../terminal/Version.ts"

const program = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const args = yield* stdio.args
  const commandLine = withNamesAttached(withoutHelpForUnknown(withHelpWord(args)))
  const run = checkArguments(commandLine).pipe(
    Effect.andThen(roster(new Set(commandLine))),
    Effect.flatMap((command) => Command.runWith(command, { version })(commandLine)),
    withTimeout(outputFlags(commandLine).timeLimit)
  )
  return yield* toExitCode(run)
})

const signals = Signals.make()

const layer = Layer.mergeAll(
  Help.layer.pipe(Layer.provideMerge(Output.layer)),
  Layer.succeed(Signals.Signals, signals.service),
  layerExitCodes(signals.received),
  Layer.succeed(Logger.LogToStderr, true)
).pipe(Layer.provideMerge(NodeServices.layer))

/** Runs a program to its exit code. The first signal goes to a waiting command or interrupts; a second one ends the process. */
const runMain = Runtime.makeRunMain(({ fiber }) => {
  const onSignal = (code: number) => () => {
    if (signals.received() !== undefined) process.exit(code)
    if (!signals.deliver(code)) fiber.interruptUnsafe(fiber.id)
  }
  process.on("SIGINT", onSignal(exitCode.interrupted))
  process.on("SIGTERM", onSignal(exitCode.terminated))
  // Each write reports its own error; without a listener the same error would end the process.
  process.stdout.on("error", () => {})
  process.stderr.on("error", () => {})
  fiber.addObserver((exit) => {
    const ended = Exit.isSuccess(exit) && Predicate.isNumber(exit.value) ? exit.value : undefined
    process.exit(ended ?? signals.received() ?? exitCode.bug)
  })
})

program.pipe(Effect.provide(layer), runMain({ disableErrorReporting: true }))
