import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Option } from "effect"
import { type Command, Completions } from "effect/cli"
import { globSync, readFileSync } from "node:fs"
import { HelpExtras } from "../../src/commands/shared/HelpExtras.ts"
import { everyCommand } from "../../src/main/CommandTree.ts"
import { version } from "../../src/terminal/Version.ts"

const tree = (command: Command.Command.Any, path: string): ReadonlyArray<readonly [string, Command.Command.Any]> => [
  [path, command],
  ...command.subcommands.flatMap((group) => group.commands.flatMap((sub) => tree(sub, `${path} ${sub.name}`)))
]

const commands = tree(await Effect.runPromise(everyCommand), "roster")

describe("the commands", () => {
  it.each(commands)("%s says what it does and shows how", (path, command) => {
    assert.isAbove(command.description?.length ?? 0, 0)
    assert.isAbove(command.examples.length, 0)
    for (const example of command.examples) assert.include(example.command, path)
  })

  it.each(commands)("%s names in the groups of its help flags that it has, each once", (_, command) => {
    const { groups = {} } = Option.getOrElse(Context.getOption(command.annotations, HelpExtras), () =>
      HelpExtras.of({})
    )
    const named = Object.values(groups).flat()
    const flags = new Set(Completions.fromCommand(command).flags.map(({ name }) => name))
    assert.deepStrictEqual(
      named.filter((name, index) => !flags.has(name) || named.indexOf(name) !== index),
      []
    )
  })

  it("have the version of the package", () => {
    const manifest: { version: string } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8")
    )
    assert.strictEqual(version, manifest.version)
  })
})

describe("the page about the command line", () => {
  it("names every variable", () => {
    const packages = new URL("../../../", import.meta.url)
    const textOf = (file: string): string => readFileSync(new URL(file, packages), "utf8")
    const read = ["cli", "connect"].flatMap((name) =>
      globSync(`${name}/src/**/*.ts`, { cwd: packages }).flatMap((file) =>
        Array.from(textOf(file).matchAll(/"(ROSTER_[A-Z_]+)"/g), ([, variable = ""]) => variable)
      )
    )
    const page = textOf("../docs/command-line.md")
    assert.isAbove(read.length, 5)
    assert.deepStrictEqual(
      [...new Set(read)].filter((name) => !page.includes(name)),
      []
    )
  })
})
