import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { maskKeys, withoutKeys } from "../../src/terminal/KeyMask.ts"

const Word = Schema.Literals([
  "roster",
  "production",
  "eu",
  "customers",
  "require",
  "remote",
  "key",
  "2026",
  "q3",
  "ci"
])

describe("what looks like a key", () => {
  it.each([
    "roster_1cm9losicpqnguqvjs7pdv1cc0tc5tyxoip3an0dpk7sw",
    "rostersmtp_1cm9losicpqnguqvjs7pdv1cc0tc5tyxoip3an0d",
    "roster_1cm9losicpqnguqvjs7pdv1c",
    "F5D1E3C0A97B48629D1FA0C2B3E4D5F60718293A4B5C6D7E",
    "0123456789abcdef0123456789abcdef",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc4eC39HqLy"
  ])("is hidden: %s", (key) => {
    assert.strictEqual(maskKeys(`use ${key}, or '${key}'`), "use …, or '…'")
    assert.include(withoutKeys(`no ${key}`), "replace that key")
  })

  it.prop(
    "is no name of words, in any case and with any separator",
    [Schema.Array(Word), Schema.Literals(["_", "-"])],
    ([words, separator]) => {
      for (const name of [words.join(separator), words.join(separator).toUpperCase(), `--${words.join(separator)}`]) {
        assert.strictEqual(withoutKeys(`There is no ${name}.`), `There is no ${name}.`)
      }
    }
  )

  it("is no name of a file that is there", () => {
    const name = `backup0123456789abcdef${crypto.randomUUID().replaceAll("-", "")}`
    assert.strictEqual(maskKeys(name), "…")
    const folder = process.cwd()
    try {
      process.chdir(process.env["TMPDIR"] ?? "/tmp")
      writeFileSync(name, "")
      assert.strictEqual(maskKeys(`${name} is empty`), `${name} is empty`)
    } finally {
      rmSync(name, { force: true })
      process.chdir(folder)
    }
  })
})
