/** The pages show these files, which run. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

const pages = [
  ["docs/testing.md", "./testing/"],
  ["docs/composing.md", "../src/composing/"],
  ["docs/getting-started.md", "../src/starting/"],
  ["docs/rules.md", "../src/rules/"],
  ["docs/bulk.md", "../src/bulk/"],
  ["docs/programs.md", "../src/programs/"],
  ["docs/sign-up.md", "../src/signup/"],
  ["docs/credentials.md", "../src/credentials/"],
  ["docs/coming-from.md", "../src/coming/"]
] as const

describe.each(pages)("%s", (page, folder) => {
  it("shows what runs and nothing else", () => {
    const here = new URL(folder, import.meta.url)
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8")
    const blocks = Array.from(text.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = ""]) => code)
    const files = readdirSync(here).map((name) => readFileSync(new URL(name, here), "utf8"))
    assert.deepStrictEqual(new Set(blocks), new Set(files))
    assert.strictEqual(blocks.length, files.length)
  })
})
