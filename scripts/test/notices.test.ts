/** Nothing of others is shipped without its licence. */
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noticesOf } from "../notices.ts"

const effect = join(import.meta.dirname, "../../node_modules/effect")

describe("the notices of a bundle", () => {
  it("have each package once, and nothing of ours or of the bundler", () => {
    const modules = ["dist/Effect.js", "dist/Layer.js"].map((file) => join(effect, file))
    const text = noticesOf([
      ...modules,
      "/checkout/packages/cli/src/main/bin.ts",
      "\0node:fs",
      `\0undici:${modules[0]}`
    ])
    assert.strictEqual(text.split("-".repeat(78)).length, 2)
    assert.match(text, /\neffect \d+\.\d+\.\d+ \(MIT\)\n/)
    assert.include(text, readFileSync(join(effect, "LICENSE"), "utf8").trim())
  })

  it("have what Effect contains as a text", () => {
    const text = noticesOf([join(effect, "dist/http-api/internal/httpApiSwagger.js")])
    assert.match(text, /\nswagger-ui \(Apache-2\.0\)\n[^]*Apache License/)
  })

  it("have the icons of the page", () => {
    assert.match(noticesOf(["/checkout/packages/studio/src/kit/Icon.tsx"]), /\nlucide [\d.]+ \(ISC\)\n[^]*Cole Bemis/)
  })

  it("are not made where a licence is missing", () => {
    const folder = mkdtempSync(join(tmpdir(), "roster-notices-"))
    try {
      const bare = join(folder, "node_modules/@other/bare")
      mkdirSync(bare, { recursive: true })
      writeFileSync(
        join(bare, "package.json"),
        JSON.stringify({ name: "@other/bare", version: "1.0.0", license: "MIT" })
      )
      assert.throws(() => noticesOf([join(bare, "lib/index.js")]), /@other\/bare has no file with its licence/)
      writeFileSync(join(bare, "LICENCE.md"), "Do what you like.\n")
      assert.include(noticesOf([join(bare, "lib/index.js")]), "@other/bare 1.0.0 (MIT)\n\nDo what you like.\n")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
