import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { makeBitset, makeDuplicateIndex } from "../../src/upload/DuplicateIndex.ts"

/** So few rows need none; `testing` has a test of many. */
const noDisk = FileSystem.layerNoop({})

describe("makeDuplicateIndex", () => {
  it.effect("tells of each row that another one of its identity follows, as a map has it", () =>
    Effect.gen(function* () {
      const index = yield* makeDuplicateIndex
      const map = new Map<string, number>()
      const expected: Array<number> = []
      for (let row = 1; row <= 200_000; row++) {
        // Lengths of all kinds, and texts that differ in one place alone.
        const identity = `${"x".repeat(row % 7)}${(row * 7919) % 90_001}@example.com`
        const before = map.get(identity)
        if (before !== undefined) expected.push(before)
        map.set(identity, row)
        index.add(identity, row)
      }
      const found: Array<number> = []
      yield* index.superseded((row) => found.push(row))
      assert.deepStrictEqual(
        found.sort((x, y) => x - y),
        expected.sort((x, y) => x - y)
      )
      yield* index.superseded((row) => assert.fail(`row ${row} is still there`))
    }).pipe(Effect.provide(noDisk))
  )

  it.effect("takes no text for another of the same beginning", () =>
    Effect.gen(function* () {
      const index = yield* makeDuplicateIndex
      const texts = [
        "",
        "\0",
        "\0\0",
        "a",
        "a\0",
        "ab",
        "ab\0",
        "ba",
        "abcd",
        "abcd\0",
        "é",
        "e\u0301",
        "é".repeat(3000)
      ]
      const found: Array<number> = []
      for (const [i, text] of texts.entries()) index.add(text, i + 1)
      for (const [i, text] of texts.slice(3, 6).entries()) index.add(text, texts.length + i + 1)
      yield* index.superseded((row) => found.push(row))
      assert.deepStrictEqual(found.sort(), [4, 5, 6])
    }).pipe(Effect.provide(noDisk))
  )
})

describe("makeBitset", () => {
  it("holds what was added and not removed", () => {
    const rows = makeBitset()
    for (const row of [0, 7, 8, 8191, 8192, 4_000_000]) rows.add(row)
    rows.remove(8)
    rows.remove(90_000_000)
    assert.deepStrictEqual(
      [0, 1, 7, 8, 9, 8191, 8192, 8193, 4_000_000, 4_000_001].filter((row) => rows.has(row)),
      [0, 7, 8191, 8192, 4_000_000]
    )
  })
})
