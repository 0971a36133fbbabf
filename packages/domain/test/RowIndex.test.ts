import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeRowIndex } from "../src/RowIndex.ts"
import { makeRowSet } from "../src/RowSet.ts"

describe("makeRowIndex", () => {
  it.effect("says of each identity what a map says", () =>
    Effect.gen(function* () {
      const index = yield* makeRowIndex
      const map = new Map<string, number>()
      let wrong = 0
      for (let row = 1; row <= 200_000; row++) {
        // Lengths of both parities, and texts that differ in one place alone.
        const identity = `${"x".repeat(row % 7)}${(row * 7919) % 90_001}@example.com`
        if (index.put(identity, row) !== (map.get(identity) ?? 0)) wrong++
        map.set(identity, row)
      }
      assert.strictEqual(wrong, 0)
    })
  )

  it.effect("takes no text for another of the same beginning", () =>
    Effect.gen(function* () {
      const index = yield* makeRowIndex
      const texts = ["", "\0", "\0\0", "a", "a\0", "ab", "ab\0", "ba", "é", "e\u0301"]
      for (const [i, text] of texts.entries()) assert.strictEqual(index.put(text, i + 1), 0, JSON.stringify(text))
      for (const [i, text] of texts.entries()) assert.strictEqual(index.put(text, 1), i + 1)
    })
  )
})

describe("makeRowSet", () => {
  it("holds what was added and not removed", () => {
    const rows = makeRowSet()
    for (const row of [0, 7, 8, 8191, 8192, 4_000_000]) rows.add(row)
    rows.remove(8)
    rows.remove(90_000_000)
    assert.deepStrictEqual(
      [0, 1, 7, 8, 9, 8191, 8192, 8193, 4_000_000, 4_000_001].filter((row) => rows.has(row)),
      [0, 7, 8191, 8192, 4_000_000]
    )
  })
})
