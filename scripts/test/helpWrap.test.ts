/** The pages of help in terminals of any width. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { helpPages } from "../helpPages.ts"
import { firstPage } from "../../packages/cli/src/main/FirstPage.ts"
import { wrapped } from "../../packages/cli/src/main/HelpWrap.ts"

const plainOf = (text: string): string => text.replaceAll(/\x1b\[\d*m/g, "")

const wordsOf = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((word) => word !== "")

/** Whether a line may be longer than the terminal: a command, or one word below the column of others. */
const mayBeLong = (line: string): boolean => /^ +roster /.test(line) || wordsOf(line).length <= 1

describe("A page of help", () => {
  it.effect("breaks no word at any width, keeps every word in its place, and is as it is in a wide terminal", () =>
    Effect.gen(function* () {
      const pages = [firstPage, ...Object.values({ ...(yield* helpPages(false)), ...(yield* helpPages(true)) })]
      for (const page of pages) {
        assert.strictEqual(wrapped(page, undefined), page)
        assert.strictEqual(wrapped(page, 250), page)
        for (const width of [40, 60, 79, 100, 119]) {
          const text = wrapped(page, width)
          assert.deepStrictEqual(wordsOf(plainOf(text)), wordsOf(plainOf(page)))
          const long = plainOf(text)
            .split("\n")
            .filter((line) => line.length > width && !mayBeLong(line))
          assert.deepStrictEqual(long, [], `at ${width} columns`)
        }
      }
    })
  )
})
