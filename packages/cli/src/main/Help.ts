/**
 * Prints requested help to stdout, and that of a command without its subcommand to stderr; none for a mistake. `roster`
 * alone prints its first page.
 */
import { Context, Effect, Layer, Option, Stdio, Stream } from "effect"
import { CliConfig, CliOutput, GlobalFlag, type HelpDoc, TerminalCapabilities } from "effect/cli"
import { HelpExtras } from "../commands/shared/HelpExtras.ts"
import { Output } from "../terminal/Output.ts"
import { firstPage } from "./FirstPage.ts"
import { plainOf, wrapped } from "./HelpWrap.ts"
import { toggle } from "../settings/FlagForms.ts"

/** Unlike effect/cli's own flag it has no alias `-v`. */
const version = GlobalFlag.Action({
  flag: toggle("version", "Show the version"),
  run: GlobalFlag.Version.run
})

/** The name of the flag that a line of help explains. */
const flagOf = (line: string): string | undefined => /^ {2}--([\w-]+)/.exec(plainOf(line))?.[1]

/** The global flags that a command is most often given, by the first word of its name. */
const globals = (path: ReadonlyArray<string>): string => {
  switch (path[1]) {
    case "serve":
    case "studio":
    case "backup":
    case "restore":
      return "--db FILE, -o FORMAT, -q"
    case "completions":
    case "commands":
    case "profile":
      return "-o FORMAT, -q"
    default:
      return "--db FILE, -p PROFILE, --base-url URL, --api-key-file PATH, -o FORMAT, -q, --timeout TIME"
  }
}

/** A page of help with its flags in groups, its notes and the global flags that matter. */
const dressed = (page: string, doc: HelpDoc.HelpDoc, path: ReadonlyArray<string>): string => {
  const { groups = {}, notes } = Option.getOrElse(Context.getOption(doc.annotations, HelpExtras), () =>
    HelpExtras.of({})
  )
  const lines = page.split("\n")
  const at = lines.findIndex((line) => plainOf(line) === "FLAGS")
  const heading = lines[at] ?? "FLAGS"
  const end = lines.indexOf("", at)
  if (at >= 0) {
    const flags = lines.slice(at + 1, end)
    const headings = Object.entries(groups).map(([title, names]) => {
      const below = flags.filter((line) => names.includes(flagOf(line) ?? ""))
      return [heading.replace("FLAGS", `FLAGS: ${title}`), ...below]
    })
    const grouped = new Set(headings.flat())
    const others = flags.filter((line) => !grouped.has(line))
    const sections = others.length === 0 ? headings : [[heading, ...others], ...headings]
    lines.splice(
      at,
      end - at,
      ...sections.flatMap((section, index) => (index === 0 ? section : ["", ...section])),
      ...(notes === undefined ? [] : ["", ...notes.split("\n")])
    )
  }
  return lines
    .join("\n")
    .replace("Run 'roster --help' for global flags", `Also ${globals(path)}; roster --help explains them`)
}

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
  const print = (text: string) => Effect.orDie(output.write(Stream.make(`${wrapped(text, output.width)}\n`)))
  const present = (event: CliOutput.Presenter.Event): Effect.Effect<void> => {
    switch (event._tag) {
      case "Version":
        return print(`${event.name} ${event.version}`)
      case "Help":
        if (event.reason !== "Requested" && event.commandPath.length === 1) return print(firstPage)
        return Effect.flatMap(formatters, ({ forMistake, requested }) => {
          const help = (formatter: CliOutput.Formatter) =>
            dressed(formatter.formatHelpDoc(event.helpDoc), event.helpDoc, event.commandPath)
          return event.reason === "Requested"
            ? print(help(requested))
            : output.noteExactly(wrapped(help(forMistake), output.width))
        })
      case "InvalidInvocation":
        // The error names the mistake and the help; a page of help would hide it.
        return Effect.void
    }
  }
  return CliOutput.layerPresenter({ present })
})

export const layer = Layer.mergeAll(Layer.unwrap(presenter), CliConfig.layer({ builtIns: [GlobalFlag.Help, version] }))
