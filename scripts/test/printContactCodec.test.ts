/** The code that names every field of a contact is the one that the schemas give. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { files } from "../printContactCodec.ts"

const generated = await files()

it.each(generated)("%s stands in its package as the schemas give it", (file, text) => {
  assert.strictEqual(readFileSync(file, "utf8"), text, "run: pnpm docs:contacts")
})
