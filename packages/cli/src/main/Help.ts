/**
 * Prints requested help to stdout, and that of a command without its subcommand to stderr; none for a mistake. `roster`
 * alone prints its first page.
 */
import { Effect, Layer, Stdio, Stream } from "effect"
import { CliConfig, CliOutput, GlobalFlag, TerminalCapabilities } from "effect/cli"
import { Output } from "../terminal/Output.ts"
import { firstPage } from "./FirstPage.ts"
import { toggle } from "../settings/FlagForms.ts"

/** Unlike effect/cli's own flag it has no alias `-v`. */
const version = GlobalFlag.Action({
  flag: toggle("version", "Show the version"),
  run: GlobalFlag.Version.run
})

const presenter = Effect.gen(function* () {
  const output = yield* Output
  const stdio = yield* Stdio.Stdio
  const context = yield* Effect.context<Stdio.Stdio>()
  // Detecting the terminal is lazy, since most commands present nothing.
  const formatters = Effect.gen(function* () {
    const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
    const onTerminal = yield* stdio.stderrIsTerminal
    return {
      requested: CliOutput.defaultFormatter({ colors: canColor, globalFlags: "summary" }),
      forMistake: CliOutput.defaultFormatter({ colors: canColor && onTerminal, globalFlags: "summary" })
    }
  }).pipe(Effect.provide(TerminalCapabilities.layer), Effect.provideContext(context))
  const print = (text: string) => Effect.orDie(output.write(Stream.make(`${text}\n`)))
  const present = (event: CliOutput.Presenter.Event): Effect.Effect<void> => {
    switch (event._tag) {
      case "Version":
        return print(`${event.name} ${event.version}`)
      case "Help":
        if (event.reason !== "Requested" && event.commandPath.length === 1) return print(firstPage)
        return Effect.flatMap(formatters, ({ forMistake, requested }) =>
          event.reason === "Requested"
            ? print(requested.formatHelpDoc(event.helpDoc))
            : output.noteExactly(forMistake.formatHelpDoc(event.helpDoc))
        )
      case "InvalidInvocation":
        // The error names the mistake and the help; a page of help would hide it.
        return Effect.void
    }
  }
  return CliOutput.layerPresenter({ present })
})

export const layer = Layer.mergeAll(Layer.unwrap(presenter), CliConfig.layer({ builtIns: [GlobalFlag.Help, version] }))
