/** The terminal at the top of the README shows the session below it, which `firstRun.test.ts` types again. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { picture, pictureOf } from "../terminalPicture.ts"

it("the picture of a terminal is that of the session in the README", () => {
  const readme = readFileSync("README.md", "utf8")
  assert.strictEqual(readFileSync(picture, "utf8"), pictureOf(readme), "run: pnpm docs:terminal")
  assert.include(readme.split("\n## ", 1)[0] ?? "", "(docs/terminal.svg)")
  assert.throws(() => pictureOf("```console\n$ cat people.csv\n```\n"), /has no roster contacts import/)
})
