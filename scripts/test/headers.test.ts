/** Every file of a library opens with a paragraph that says what it is. */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"

const libraries = "packages/{domain,workflows,api,http-client,server,connect}/src/**/*.ts"

it("a file of a library says first what it is", () => {
  const bare = globSync(libraries).filter(
    (file) => !/^\/(?:\*\*|\/) ?\S/.test(readFileSync(file, "utf8").replace("\n *", ""))
  )
  assert.deepStrictEqual(bare, [])
})
