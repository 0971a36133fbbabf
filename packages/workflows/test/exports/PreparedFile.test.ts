import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { existsSync, linkSync, lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { prepareFile } from "../../src/exports/PreparedFile.ts"

const Suffix = Schema.Literals(["", "-wal", "-shm", "-journal", "-WAL", ".csv", "-wal.csv"])
const Mode = Schema.Literals(["wal", "delete", "persist"])

it.effect.prop(
  "replaces any file but those of a database",
  { suffix: Suffix, mode: Mode, isOpen: Schema.Boolean, link: Schema.Literals(["none", "symbolic", "hard"]) },
  ({ isOpen, link, mode, suffix }) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped({ prefix: "roster-prepared-" })}/a.db`
      const database = new DatabaseSync(file)
      database.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE rows (text); INSERT INTO rows VALUES ('kept')`)
      if (!isOpen) database.close()
      // The header of a journal that is kept is emptied, and says nothing under another name.
      const isLinked = link !== "none" && mode !== "persist" && existsSync(file + suffix)
      const target = isLinked ? join(dirname(file), "other") : file + suffix
      if (isLinked) (link === "hard" ? linkSync : symlinkSync)(file + suffix, target)
      const written = yield* prepareFile(target).pipe(
        Effect.flatMap((write) => write(Stream.make(new TextEncoder().encode("text")))),
        Effect.scoped,
        Effect.result
      )
      assert.strictEqual(written._tag, suffix.endsWith(".csv") ? "Success" : "Failure")
      if (isOpen) database.close()
      using again = new DatabaseSync(file)
      assert.deepStrictEqual({ ...again.prepare("SELECT text FROM rows").get() }, { text: "kept" })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  { arbitrary: { runs: 60 } }
)

const text = Stream.make(new TextEncoder().encode("text"))

describe("a prepared file", () => {
  it.live("takes the place of no link to the shared memory of an open database", () =>
    Effect.gen(function* () {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "roster-prepared-" })
      using database = new DatabaseSync(join(folder, "a.db"))
      database.exec("PRAGMA journal_mode = wal; CREATE TABLE rows (text)")
      for (const [name, link] of [
        ["hard", linkSync],
        ["symbolic", symlinkSync]
      ] as const) {
        link(join(folder, "a.db-shm"), join(folder, name))
        assert.strictEqual((yield* Effect.flip(prepareFile(join(folder, name))))._tag, "PlatformError")
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is written through no link that stands at the name of its temporary file", () =>
    Effect.gen(function* () {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped({ prefix: "roster-prepared-" })
      const [other, target, temporary] = ["other", "out.csv", "out.csv.new"].map((name) => join(folder, name))
      assert.isDefined(other)
      assert.isDefined(target)
      assert.isDefined(temporary)
      writeFileSync(other, "mine")
      symlinkSync(other, temporary)
      yield* Effect.scoped(Effect.flatMap(prepareFile(target, { temporary }), (write) => write(text)))
      assert.deepStrictEqual([readFileSync(target, "utf8"), readFileSync(other, "utf8")], ["text", "mine"])
      assert.isTrue(lstatSync(target).isFile())
      // One that comes between.
      const swapped = Effect.gen(function* () {
        const write = yield* prepareFile(target, { reserve: 4096 })
        const name = readdirSync(folder).find((name) => name.endsWith(".tmp")) ?? ""
        rmSync(join(folder, name))
        symlinkSync(other, join(folder, name))
        return yield* write(text)
      })
      yield* Effect.scoped(swapped)
      assert.strictEqual(readFileSync(other, "utf8"), "mine")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
