import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Command } from "effect/cli"
import { readFileSync } from "node:fs"
import { everyCommand } from "../../src/main/CommandTree.ts"
import { version } from "../../src/terminal/Version.ts"

const tree = (command: Command.Command.Any, path: string): ReadonlyArray<readonly [string, Command.Command.Any]> => [
  [path, command],
  ...command.subcommands.flatMap((group) => group.commands.flatMap((sub) => tree(sub, `${path} ${sub.name}`)))
]

const commands = tree(await Effect.runPromise(everyCommand), "roster")

describe("the commands", () => {
  it("are those of the interface", () => {
    const leaves = commands.filter(([, command]) => command.subcommands.length === 0).map(([path]) => path)
    const of = (noun: string, ...verbs: ReadonlyArray<string>) => verbs.map((verb) => `roster ${noun} ${verb}`)
    const credentials = ["list", "get", "create", "update", "delete", "rotate"]
    assert.sameMembers(leaves, [
      ...of(
        "contacts",
        "list",
        "get",
        "add",
        "update",
        "delete",
        "restore",
        "import",
        "apply",
        "runs",
        "undo",
        "export"
      ),
      ...of("lists", "list", "remove"),
      ...of("exports", "status", "download"),
      ...of("jobs", "list", "get", "cancel"),
      ...of("apikeys", ...credentials, "audit"),
      ...of("smtp", ...credentials),
      ...of("audit", "list"),
      ...of("auth", "login", "status", "logout"),
      ...of("profile", "list", "use", "remove"),
      ...of("config", "list"),
      ...of("emails", "send", "list", "get"),
      ...of("senders", "allow", "list", "remove"),
      "roster serve",
      "roster backup",
      "roster restore",
      "roster whoami",
      "roster doctor",
      "roster conformance",
      "roster completions",
      "roster commands"
    ])
  })

  it.each(commands)("%s says what it does and shows how", (path, command) => {
    assert.isAbove(command.description?.length ?? 0, 0)
    assert.isAbove(command.examples.length, 0)
    for (const example of command.examples) assert.include(example.command, path)
  })

  it("have the version of the package", () => {
    const manifest: { version: string } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8")
    )
    assert.strictEqual(version, manifest.version)
  })
})
