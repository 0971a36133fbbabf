/**
 * Texts that services and the page show, too, name no flags of the command line, which adds its own; and what the command line says of flags
 * is true: each is there, and one beside a command is one of that command. (docs/decisions/csv.md)
 */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** Code without comments. */
const codeOf = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
    .join("\n")

const filesOf = (name: string) => globSync(`packages/${name}/src/**/*.{ts,tsx}`, { cwd: root })

/** The flags in the texts of code. */
const flagsIn = (code: string) => Array.from(code.matchAll(/(?<=["'`\s(>])--[a-z][a-z-]+/g), ([flag]) => flag)

/** The flags of each command, as docs/cli.md has them from the code; those of `roster` are for all. */
const flagsOf = new Map(
  readFileSync(join(root, "docs/cli.md"), "utf8")
    .split(/^#+ (?=roster)/m)
    .slice(1)
    .map((section) => {
      const [command = ""] = section.split("\n", 1)
      return [command, new Set(Array.from(section.matchAll(/^ {2}(--[a-z-]+)/gm), ([, flag]) => flag))] as const
    })
)
const everyFlag = new Set([
  ...[...flagsOf.values()].flatMap((flags) => [...flags]),
  // The name of a group of flags, a flag of Node, and that of completions, which help does not show.
  "--api-key",
  "--no-allocation-site-pretenuring",
  "--completions"
])

describe("the texts of", () => {
  it("cli name flags that there are, and beside a command those that it has", () => {
    const files = ["cli", "server", "workflows", "connect"].flatMap(filesOf)
    const wrong: Array<string> = []
    let commands = 0
    for (const file of files) {
      const code = codeOf(readFileSync(join(root, file), "utf8"))
      for (const flag of flagsIn(code)) if (!everyFlag.has(flag)) wrong.push(`${file}: ${flag}`)
      for (const [, said = "", after = ""] of code.matchAll(/\broster((?: [a-z]+)+)((?: [^"'`\n]*)?)/g)) {
        const words = ["roster", ...said.trim().split(" ")]
        while (words.length > 1 && !flagsOf.has(words.join(" "))) words.pop()
        const own = flagsOf.get(words.join(" "))
        if (words.length === 1 || own === undefined) continue
        // What stands behind the end of a sentence, or another command, is not beside it.
        for (const flag of flagsIn(after.split(/[.;,] |roster/, 1)[0] ?? "")) {
          commands++
          if (!own.has(flag) && flagsOf.get("roster")?.has(flag) !== true)
            wrong.push(`${file}: ${words.join(" ")} ${flag}`)
        }
      }
    }
    assert.isAbove(commands, 50)
    assert.deepStrictEqual(wrong, [])
  })

  it.each(["domain", "api", "workflows", "studio", "server", "http-client", "connect"])("%s name no flags", (name) => {
    const files = filesOf(name)
    assert.isAbove(files.length, 3)
    const found = files.flatMap((file) =>
      // A command that is shown whole, which only a store says, is one of the command line.
      flagsIn(codeOf(readFileSync(join(root, file), "utf8")).replaceAll(/\broster [a-z]+[^"'`\n]*/g, "")).map(
        (flag) => [file, flag]
      )
    )
    assert.deepStrictEqual(found, [])
  })
})
