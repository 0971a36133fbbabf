import { assert, describe, it } from "@effect/vitest"
import type { Command } from "effect/cli"
import { readFileSync } from "node:fs"
import { roster } from "../src/Roster.ts"
import { version } from "../src/Version.ts"

const tree = (command: Command.Command.Any, path: string): ReadonlyArray<readonly [string, Command.Command.Any]> => [
  [path, command],
  ...command.subcommands.flatMap((group) => group.commands.flatMap((sub) => tree(sub, `${path} ${sub.name}`)))
]

const commands = tree(roster, "roster")

describe("the commands", () => {
  it("are those of the interface", () => {
    const leaves = commands.filter(([, command]) => command.subcommands.length === 0).map(([path]) => path)
    assert.deepStrictEqual(leaves, [
      ...["list", "get", "add", "update", "delete", "import", "export"].map((verb) => `roster contacts ${verb}`),
      ...["status", "download"].map((verb) => `roster exports ${verb}`),
      ...["apikeys", "smtp"].flatMap((noun) =>
        ["list", "get", "create", "update", "delete"].map((verb) => `roster ${noun} ${verb}`)
      ),
      "roster emails send",
      "roster serve"
    ])
  })

  it.each(commands)("%s says what it does and shows how", (path, command) => {
    assert.isAbove(command.description?.length ?? 0, 0)
    assert.isAbove(command.examples.length, 0)
    for (const example of command.examples) assert.include(example.command, path)
  })

  it("have the version of the package", () => {
    const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
    assert.strictEqual(version, manifest.version)
  })
})
