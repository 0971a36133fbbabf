/** The terminal at the top of the README shows the session in docs/command-line.md, which `firstRun.test.ts` types again. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { picture, pictureOf } from "../terminalPicture.ts"

it("the picture of a terminal is that of the session in docs/command-line.md", () => {
  const page = readFileSync("docs/command-line.md", "utf8")
  assert.strictEqual(readFileSync(picture, "utf8"), pictureOf(page), "run: pnpm docs:terminal")
  assert.include(readFileSync("README.md", "utf8").split("\n## ", 1)[0] ?? "", "(docs/terminal.svg)")
  assert.throws(() => pictureOf("```console\n$ cat people.csv\n```\n"), /has no roster contacts import/)
})
