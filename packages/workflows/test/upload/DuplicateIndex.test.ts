import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { makeBitset, makeDuplicateIndex } from "../../src/upload/DuplicateIndex.ts"

describe("makeDuplicateIndex", () => {
  it.effect.each(["last", "first"] as const)(
    "tells of each row but the %s of its identity, as a map has it",
    (winner) =>
      Effect.gen(function* () {
        const index = makeDuplicateIndex()
        const map = new Map<string, number>()
        const expected: Array<number> = []
        const identities: Array<string> = []
        // Several blocks of each part.
        for (let row = 1; row <= 550_000; row++) {
          // Lengths of all kinds, and texts that differ in one place alone. Some stand close to each other, some many times.
          const text = row % 3 === 0 ? `${row % 1000}@b.example` : `${(row * 7919) % 400_009}@example.com`
          const identity = `${"x".repeat(row % 7)}${text}`
          const before = map.get(identity)
          if (before !== undefined) expected.push(winner === "last" ? before : row)
          if (before === undefined || winner === "last") map.set(identity, row)
          identities.push(identity)
          index.add(identity, row)
        }
        const found: Array<number> = []
        const others = new Set<number>()
        yield* index.repeated(winner, (row, other) => {
          found.push(row)
          if (map.get(identities[row - 1] ?? "") !== other) others.add(row)
        })
        assert.strictEqual(others.size, 0)
        // A list of what is different would be long in the making.
        const told = Uint32Array.from(found).sort()
        const other = Uint32Array.from(expected)
          .sort()
          .findIndex((row, at) => told[at] !== row)
        assert.isAbove(expected.length, 100_000)
        assert.deepStrictEqual([told.length, other], [expected.length, -1])
      })
  )

  it.effect("takes no text for another of the same beginning", () =>
    Effect.gen(function* () {
      const index = makeDuplicateIndex()
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
      yield* index.repeated("last", (row) => found.push(row))
      assert.deepStrictEqual(found.sort(), [4, 5, 6])
    })
  )

  it.effect("has another key each time, so that no file can be made for it", () =>
    Effect.gen(function* () {
      const random = vi.spyOn(crypto, "getRandomValues")
      for (const _ of [1, 2]) makeDuplicateIndex().add("ab", 1)
      const keys = random.mock.results.map(({ value }) => String(value))
      random.mockRestore()
      assert.strictEqual(new Set(keys).size, 4)
    })
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
