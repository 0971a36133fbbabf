import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { prepare } from "../../src/files/AtomicFile.ts"
import { temporaryFolder } from "../roster.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const content = Stream.make(bytes("one "), bytes("two"))

const write = <E>(target: string, force: boolean, what: Stream.Stream<Uint8Array, E>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const save = yield* prepare(target, { force })
      return yield* save(what)
    })
  ).pipe(Effect.provide(NodeServices.layer))

describe("files that are written", () => {
  it.live("are complete, for their owner alone, and nothing else is left", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const target = join(folder, "out.csv")
      assert.strictEqual(yield* write(target, false, content), 7)
      assert.strictEqual(readFileSync(target, "utf8"), "one two")
      assert.strictEqual(statSync(target).mode & 0o777, 0o600)
      assert.deepStrictEqual(readdirSync(folder), ["out.csv"])
    })
  )

  it.live("replace another one only when told", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const target = join(folder, "out.csv")
      writeFileSync(target, "mine")
      const refused = yield* Effect.flip(write(target, false, content))
      assert.strictEqual(refused._tag, "UsageError")
      assert.strictEqual(readFileSync(target, "utf8"), "mine")
      yield* write(target, true, content)
      assert.strictEqual(readFileSync(target, "utf8"), "one two")
      assert.deepStrictEqual(readdirSync(folder), ["out.csv"])
    })
  )

  it.live("do not appear when the content fails", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const failing = Stream.concat(content, Stream.fail("broken" as const))
      assert.strictEqual(yield* Effect.flip(write(join(folder, "out.csv"), false, failing)), "broken")
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )

  it.live("are no folders, and stand in none that is not there", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "sub"))
      for (const path of ["sub", "absent/out.csv"]) {
        const refused = yield* Effect.flip(write(join(folder, path), true, content))
        assert.strictEqual(refused._tag, "UsageError", path)
      }
      assert.deepStrictEqual(readdirSync(folder), ["sub"])
    })
  )
})
