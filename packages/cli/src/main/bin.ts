/** The entry of the program, and the only place that provides its layers. */
import { Effect, Layer, Logger, Stdio } from "effect"
import { Command } from "effect/cli"
import { checkArguments } from "../settings/Arguments.ts"
import { toExitCode } from "./ErrorReporter.ts"
import * as Help from "./Help.ts"
import { timeLimit } from "../terminal/OutputFlags.ts"
import { runMain } from "./Main.ts"
import * as Output from "../terminal/Output.ts"
import * as NodeLayer from "./NodeLayer.ts"
import { roster, withoutHelpForUnknown } from "./Roster.ts"
import { withHelpWord } from "./StaticHelp.ts"
import * as Signals from "../terminal/Signals.ts"
import { withTimeout } from "../target/TimeLimit.ts"
import { version } from "../terminal/Version.ts"

const program = Effect.gen(function* () {
  const { args } = yield* Stdio.Stdio
  const given = withoutHelpForUnknown(withHelpWord(yield* args))
  return yield* checkArguments(given).pipe(
    Effect.andThen(roster(new Set(given))),
    Effect.flatMap((command) => Command.runWith(command, { version })(given)),
    withTimeout(timeLimit(given)),
    toExitCode
  )
})

const signals = Signals.make()

const layer = Layer.mergeAll(
  Help.layer.pipe(Layer.provideMerge(Output.layer)),
  Layer.succeed(Signals.Signals, signals.service),
  Layer.succeed(Logger.LogToStderr, true)
).pipe(Layer.provideMerge(NodeLayer.layer))

program.pipe(Effect.provide(layer), runMain(signals.deliver)({ disableErrorReporting: true }))
