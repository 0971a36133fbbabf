/**
 * Prints requested help to stdout, and that of a command without its subcommand to stderr; none for a mistake. `roster`
 * alone prints its first page.
 */
import { Context, Effect, Layer, Option, Stream } from "effect"
import { CliConfig, CliOutput, GlobalFlag, type HelpDoc } from "effect/cli"
import { HelpExtras } from "../commands/shared/HelpExtras.ts"
import { toggle } from "../settings/FlagForms.ts"
import { Output } from "../terminal/Output.ts"
import { firstPage } from "./FirstPage.ts"

/** Columns of a page of help, which every terminal has. */
export const helpWidth = 80

/** A second column that would begin further on the right begins here, below a first one that is longer. */
const furthest = 28

type Row = readonly [left: string, right: string]

/** A first column, and the words of a second one in lines beside it. */
const rowText = ([left, right]: Row, column: number): string => {
  const lines: Array<string> = []
  let line = `  ${left}`
  if (left !== "" && right !== "" && line.length > column - 2) {
    lines.push(line)
    line = ""
  }
  let isFirst = true
  for (const word of right.split(" ")) {
    if (!isFirst && line.length + 1 + word.length > helpWidth) {
      lines.push(line)
      line = ""
      isFirst = true
    }
    line = isFirst ? line.padEnd(right === "" ? 0 : column) + word : `${line} ${word}`
    isFirst = false
  }
  return [...lines, line].join("\n")
}

/** A section with a row for each entry; nothing without one. */
const section = (title: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  if (rows.length === 0) return []
  const column = Math.min(furthest, 4 + Math.max(...rows.map(([left]) => left.length)))
  return [[title, ...rows.map((row) => rowText(row, column))].join("\n")]
}

const flagRow = ({ aliases, description, name, type }: HelpDoc.FlagDoc): Row => [
  [`--${name}`, ...aliases].join(", ") + (type === "boolean" ? "" : ` ${type}`),
  Option.getOrElse(description, () => "")
]

const argumentRow = ({ description, name, required, variadic }: HelpDoc.ArgDoc): Row => [
  `${name}${variadic ? "..." : ""}`,
  `${Option.getOrElse(description, () => "")}${required ? "" : " (optional)"}`
]

/** The page of a command. */
export const helpText = (doc: HelpDoc.HelpDoc, path: ReadonlyArray<string>): string => {
  const { groups = {}, notes } = Option.getOrElse(Context.getOption(doc.annotations, HelpExtras), () =>
    HelpExtras.of({})
  )
  const grouped = new Set(Object.values(groups).flat())
  const flagsOf = (title: string, isShown: (name: string) => boolean) =>
    section(title, doc.flags.filter(({ name }) => isShown(name)).map(flagRow))
  const commands = (doc.subcommands ?? []).flatMap(({ commands }) => commands)
  const examples = (doc.examples ?? []).map(({ command, description }) =>
    description === undefined ? `  ${command}` : `  # ${rowText(["", description], 4).trimStart()}\n  ${command}`
  )
  return [
    `DESCRIPTION\n${rowText(["", doc.description], 2)}`,
    `USAGE\n  ${doc.usage}`,
    ...section("ARGUMENTS", (doc.args ?? []).map(argumentRow)),
    ...flagsOf("FLAGS", (name) => !grouped.has(name)),
    ...Object.entries(groups).flatMap(([title, names]) => flagsOf(`FLAGS: ${title}`, (name) => names.includes(name))),
    ...(notes === undefined ? [] : section(notes.title, notes.rows)),
    ...(path.length === 1 ? section("GLOBAL FLAGS", (doc.globalFlags ?? []).map(flagRow)) : []),
    ...section(
      "SUBCOMMANDS",
      commands.map(({ alias, description, name }) => [alias === undefined ? name : `${name}, ${alias}`, description])
    ),
    ...(examples.length === 0 ? [] : [`EXAMPLES\n${examples.join("\n\n")}`]),
    ...(path.length === 1 ? [] : ["roster --help lists the flags of every command, such as --db, -o and --timeout."])
  ].join("\n\n")
}

/** Unlike effect/cli's own flag it has no alias `-v`. */
const version = GlobalFlag.Action({
  flag: toggle("version", "Show the version"),
  run: GlobalFlag.Version.run
})

const presenter = Effect.map(Output, (output) => {
  const print = (text: string) => Effect.orDie(output.write(Stream.make(`${text}\n`)))
  return CliOutput.layerPresenter({
    present: (event) => {
      switch (event._tag) {
        case "Version":
          return print(`${event.name} ${event.version}`)
        case "Help":
          if (event.reason === "Requested") return print(helpText(event.helpDoc, event.commandPath))
          return event.commandPath.length === 1
            ? print(firstPage)
            : output.noteExactly(helpText(event.helpDoc, event.commandPath))
        case "InvalidInvocation":
          // The error names the mistake and the help; a page of help would hide it.
          return Effect.void
      }
    }
  })
})

export const layer = Layer.mergeAll(Layer.unwrap(presenter), CliConfig.layer({ builtIns: [GlobalFlag.Help, version] }))
