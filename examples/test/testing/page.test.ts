/** The page shows these files, which run. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

const here = new URL("./", import.meta.url)
const page = readFileSync(new URL("../../../docs/testing.md", import.meta.url), "utf8")
const blocks = Array.from(page.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = ""]) => code)
const files = readdirSync(here).filter((name) => name !== "page.test.ts")

describe("docs/testing.md", () => {
  it("shows what runs and nothing else", () => {
    const shown = files.map((name) => readFileSync(new URL(name, here), "utf8"))
    assert.deepStrictEqual(new Set(blocks), new Set(shown))
    assert.strictEqual(blocks.length, files.length)
  })
})
