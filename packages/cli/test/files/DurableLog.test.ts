import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeDurableLog } from "../../src/files/DurableLog.ts"

const makeFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-lines-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  ),
  (folder) => join(folder, "lines")
)

describe("lines that are forced to the disk", () => {
  it.live("are in the file when their add ends, all of them, for this user alone", () =>
    Effect.gen(function* () {
      const file = yield* makeFile
      const lines = yield* makeDurableLog(file)
      assert.isFalse(existsSync(file))
      let expected = ""
      for (let at = 0; at < 500; at++) {
        yield* lines.add(`line ${at}`, { isDurable: at % 2 === 0 })
        expected += `line ${at}\n`
        assert.strictEqual(readFileSync(file, "utf8"), expected)
      }
      yield* lines.fsync
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      yield* lines.begin
      assert.strictEqual(readFileSync(file, "utf8"), "")
      yield* lines.close
      yield* lines.add("again", { isDurable: true })
      assert.strictEqual(readFileSync(file, "utf8"), "again\n")
    })
  )

  it.live("take the place of one that is not whole", () =>
    Effect.gen(function* () {
      const file = yield* makeFile
      writeFileSync(file, "one\ntw")
      const lines = yield* makeDurableLog(file)
      lines.keep(4)
      assert.strictEqual(readFileSync(file, "utf8"), "one\ntw")
      yield* Effect.all([lines.add("two", { isDurable: true }), lines.add("three", { isDurable: true })], {
        concurrency: 2
      })
      assert.strictEqual(readFileSync(file, "utf8"), "one\ntwo\nthree\n")
    })
  )

  it.live("fail where there is no room for them, and never again say that one is there", () =>
    Effect.gen(function* () {
      const lines = yield* makeDurableLog("/dev/full")
      for (const work of [lines.add("one", { isDurable: true }), lines.add("two", { isDurable: false }), lines.fsync]) {
        assert.strictEqual((yield* Effect.flip(work)).message, "/dev/full cannot be written: the disk is full.")
      }
    })
  )

  it.live("fail, before too many wait, where the disk does not take them", () =>
    Effect.gen(function* () {
      // Takes what is written, and cannot be synced.
      const lines = yield* makeDurableLog("/dev/null")
      yield* lines.add("one", { isDurable: true })
      assert.match((yield* Effect.flip(lines.fsync)).message, /EINVAL/)
      assert.match((yield* Effect.flip(lines.add("two", { isDurable: true }))).message, /EINVAL/)
      const others = yield* makeDurableLog("/dev/null")
      let added = 0
      const add = Effect.tap(others.add("line", { isDurable: true }), () =>
        Effect.sync(() => {
          added++
        })
      )
      assert.match((yield* Effect.flip(Effect.forever(add))).message, /EINVAL/)
      assert.isAtMost(added, 64)
    })
  )
})
