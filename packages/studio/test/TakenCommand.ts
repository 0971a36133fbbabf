/** What the command line takes, by its page in docs/cli.md, which is printed from its own definition. */
import { assert } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { commandLine, type RosterCommand } from "@roster/workflows"

const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8")

/** The command line of a command that the page shows; fails if it names a program or flag that there is not. */
export const takenCommand = (command: RosterCommand): string => {
  const line = commandLine(command)
  const help = page.split(`# roster ${command.program}\n`)[1]?.split("\n#")[0] ?? assert.fail(`no ${command.program}`)
  for (const [name, value] of Object.entries(command.values ?? {})) {
    const flags = commandLine({ program: "", values: { [name]: value } }).match(/--[a-z-]+/)
    if (flags !== null) assert.match(help, new RegExp(`^ +${flags[0]}\\b`, "m"), line)
  }
  return line
}
