import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { pendingFile } from "../../src/files/PendingFile.ts"
import { temporaryFolder } from "../roster.ts"

const secret = Redacted.make("secret")
const isKept = (found: Redacted.Redacted<string>) => Redacted.value(found) === "secret"
const isNotKept = () => false

/** A file `admin.key` of a store, in a new folder. */
const made = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const target = join(folder, "admin.key")
  const file = yield* pendingFile(target, join("elsewhere", "roster.db"))
  return { ...file, folder, target, pending: join(folder, ".admin.key.roster.db.new") }
}).pipe(Effect.provide(NodeServices.layer))

const names = (folder: string) => readdirSync(folder).toSorted()

describe("a file that waits for a commit", () => {
  it.live("is on disk before it, for its owner alone, and has its name after it", () =>
    Effect.gen(function* () {
      const { folder, pending, publish, target, write } = yield* made
      yield* write(secret)
      assert.deepStrictEqual(names(folder), [".admin.key.roster.db.new"])
      assert.strictEqual(statSync(pending).mode & 0o777, 0o600)
      assert.isTrue(yield* publish(isKept))
      assert.deepStrictEqual(names(folder), ["admin.key"])
      assert.strictEqual(readFileSync(target, "utf8"), "secret\n")
      assert.strictEqual(statSync(target).mode & 0o777, 0o600)
      assert.isFalse(yield* publish(isKept))
    })
  )

  it.live("is gone where nothing was committed, and written anew", () =>
    Effect.gen(function* () {
      const { folder, publish, target, write } = yield* made
      yield* write(secret)
      assert.isFalse(yield* publish(isNotKept))
      assert.deepStrictEqual(names(folder), [])
      yield* write(Redacted.make("killed before the commit"))
      yield* write(secret)
      assert.isTrue(yield* publish(isKept))
      assert.strictEqual(readFileSync(target, "utf8"), "secret\n")
    })
  )

  it.live("gets the name that a killed process had reserved, and that of no other file", () =>
    Effect.gen(function* () {
      const { folder, pending, publish, target, write } = yield* made
      yield* write(secret)
      writeFileSync(target, "mine")
      const refused = yield* Effect.flip(publish(isKept))
      assert.include(refused.message, "it already exists")
      assert.strictEqual(readFileSync(target, "utf8"), "mine")
      assert.strictEqual(readFileSync(pending, "utf8"), "secret\n")
      writeFileSync(target, "")
      assert.isTrue(yield* publish(isKept))
      assert.deepStrictEqual(names(folder), ["admin.key"])
      const again = yield* Effect.flip(write(secret))
      assert.deepStrictEqual([again.code, names(folder)], ["FileProblem", ["admin.key"]])
    })
  )

  it.live("is written through no link, and read from nothing but a file", () =>
    Effect.gen(function* () {
      const { folder, pending, publish, target, write } = yield* made
      const other = join(folder, "other")
      writeFileSync(other, "other")
      symlinkSync(other, pending)
      yield* write(secret)
      assert.strictEqual(readFileSync(other, "utf8"), "other")
      assert.isTrue(yield* publish(isKept))
      assert.isFalse(statSync(target).isSymbolicLink())
      mkdirSync(pending)
      assert.isFalse(yield* publish(isKept))
      rmdirSync(pending)
      writeFileSync(other, "secret\n")
      for (const link of [symlinkSync, linkSync]) {
        link(other, pending)
        assert.isFalse(yield* publish(isKept))
        rmSync(pending)
      }
      assert.deepStrictEqual(names(folder), ["admin.key", "other"])
    })
  )

  it.live("takes the place of no link, not even of one to nothing", () =>
    Effect.gen(function* () {
      const { folder, target, write } = yield* made
      symlinkSync("absent", target)
      assert.strictEqual((yield* Effect.flip(write(secret))).code, "FileProblem")
      assert.deepStrictEqual(names(folder), ["admin.key"])
    })
  )
})
