/** Texts that services and the page show, too, name no flags of the command line, which adds its own. (docs/decisions/csv.md) */
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

describe("the texts of", () => {
  it.each(["domain", "api", "workflows", "studio"])("%s name no flags", (name) => {
    const files = globSync(`packages/${name}/src/**/*.{ts,tsx}`, { cwd: root })
    assert.isAbove(files.length, 5)
    const found = files.flatMap((file) =>
      Array.from(codeOf(readFileSync(join(root, file), "utf8")).matchAll(/(?<=["'`\s(])--[a-z][a-z-]+/g), ([flag]) => [
        file,
        flag
      ])
    )
    assert.deepStrictEqual(found, [])
  })
})
