/** Every mark in a program is one that a workload has to reach. */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const marked = (pattern: string, mark: RegExp) =>
  globSync(pattern, { cwd: join(import.meta.dirname, "../../../..") })
    .flatMap((file) => Array.from(readFileSync(join(import.meta.dirname, "../../../..", file), "utf8").matchAll(mark)))
    .map(([, text]) => text)

it("each mark is reached by a workload", () => {
  const marks = marked("packages/{workflows,http-client,server}/src/**/*.ts", /\bsometimes\("([^"]+)"\)/g)
  assert.isAtLeast(marks.length, 12)
  const reached = marked("packages/testing/test/simulation/{keys,programs}.test.ts", /"([^"\n]+)"/g)
  for (const mark of marks) assert.include(reached, mark)
})
