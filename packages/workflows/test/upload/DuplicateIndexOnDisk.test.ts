/**
 * Finding addresses that stand in a file twice, where there are more of them than memory is taken for.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { type DuplicateIndex, makeDuplicateIndex, makeMemoryIndex } from "../../src/upload/DuplicateIndex.ts"
import { Effect, FileSystem, Layer } from "effect"

/** The disk, and what is done with it. */
const watched = (seen: { readonly opened: Array<unknown>; readonly folders: Array<string> }) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) =>
      FileSystem.FileSystem.of({
        ...fs,
        makeTempDirectory: (options) =>
          Effect.tap(fs.makeTempDirectory(options), (folder) => Effect.sync(() => seen.folders.push(folder))),
        open: (path, options) =>
          Effect.tap(fs.open(path, options), (file) =>
            Effect.flatMap(file.stat, ({ mode }) => Effect.sync(() => seen.opened.push([options?.flag, mode & 0o777])))
          )
      })
    )
  ).pipe(Layer.provide(NodeFileSystem.layer))

/** Fills an index, and gives the rows that another one of their identity follows, as a map has them. */
const fill = Effect.fnUntraced(function* <E>(index: DuplicateIndex<E>) {
  const map = new Map<string, number>()
  const expected: Array<number> = []
  for (let row = 1; row <= 550_000; row++) {
    // Some stand close to each other, some far apart, some many times.
    const identity = row % 3 === 0 ? `${row % 1000}@b.example` : `${(row * 7919) % 400_009}@example.com`
    const before = map.get(identity)
    if (before !== undefined) expected.push(before)
    map.set(identity, row)
    index.add(identity, row)
    if (row % 2500 === 0) yield* index.spill
  }
  return expected
})

const check = Effect.fnUntraced(function* <E>(index: DuplicateIndex<E>, expected: ReadonlyArray<number>) {
  const found: Array<number> = []
  yield* index.superseded((row) => found.push(row))
  // A list of what is different would be long in the making.
  const told = Uint32Array.from(found).sort()
  const other = Uint32Array.from(expected)
    .sort()
    .findIndex((row, at) => told[at] !== row)
  assert.deepStrictEqual([told.length, other], [expected.length, -1])
  yield* index.superseded((row) => assert.fail(`row ${row} is still there`))
})

describe("an index of more rows than are held in memory", () => {
  it.effect(
    "tells of each row that another one of its identity follows, as a map has it, and leaves nothing behind",
    () => {
      const seen = { opened: [], folders: [] }
      return Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const index = yield* makeDuplicateIndex
        const expected = yield* fill(index)
        const [folder = ""] = seen.folders
        assert.deepStrictEqual(seen, { opened: [["wx+", 0o600]], folders: [folder] })
        assert.isFalse(yield* fs.exists(folder))
        yield* check(index, expected)
      }).pipe(Effect.scoped, Effect.provide(watched(seen)))
    }
  )

  it.effect("does so in memory, too, where there is no file system", () =>
    Effect.gen(function* () {
      const index = yield* makeMemoryIndex
      yield* check(index, yield* fill(index))
    })
  )
})
