import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { type ContactsService, ExportId, layerTestContacts, type ExportLink, type ExportStatus } from "@roster/domain"
import { Effect, Fiber, FileSystem, Path, Stream } from "effect"
import { TestClock } from "effect/testing"
import { prepareFile } from "../../src/exports/PreparedFile.ts"
import { type DownloadedExport, exportTo } from "../../src/exports/ExportToFile.ts"

const link: ExportLink = { id: ExportId.make("3fa85f64-5717-4562-b3fc-2c963f66afa6"), link: "https://example.com/file" }
const bytes = (text: string) => new TextEncoder().encode(text)

const service = (status: ExportStatus) =>
  layerTestContacts({
    export: () => Effect.succeed(link),
    exportStatus: () => Effect.succeed(status),
    download: () => Stream.make(bytes("Email\n"), bytes("ann@example.com\n"))
  })

/** A path in a folder of its own, and the names that are in that folder. */
const place = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "roster-export-" })
  return { target: path.join(folder, "export.csv"), names: fs.readDirectory(folder), fs }
})

layer(NodeServices.layer)("exportTo", (it) => {
  it.effect("writes a file for its owner alone, and nothing beside it", () =>
    Effect.gen(function* () {
      const { fs, names, target } = yield* place
      const exported = yield* Effect.provide(exportTo({}, target), service("Ready"))
      assert.deepStrictEqual(exported, { bytes: 22 })
      assert.strictEqual(yield* fs.readFileString(target), "Email\nann@example.com\n")
      assert.strictEqual((yield* fs.stat(target)).mode & 0o777, 0o600)
      assert.deepStrictEqual(yield* names, ["export.csv"])
    })
  )

  it.effect("gives the bytes to a sink", () =>
    Effect.gen(function* () {
      const parts: Array<Uint8Array> = []
      // The type has no file system.
      const exported: Effect.Effect<DownloadedExport, unknown, ContactsService> = exportTo({}, (content) =>
        Stream.runForEach(content, (part) =>
          Effect.sync(() => {
            parts.push(part)
          })
        )
      )
      const { bytes } = yield* Effect.provide(exported, service("Ready"))
      assert.strictEqual(bytes, 22)
      assert.strictEqual(Buffer.concat(parts).toString(), "Email\nann@example.com\n")
    })
  )

  it.effect("tells the link of an export whose wait is interrupted", () =>
    Effect.gen(function* () {
      const { names, target } = yield* place
      const told: Array<ExportLink> = []
      const exported = exportTo({}, target, {
        onWaitInterrupted: (link) =>
          Effect.sync(() => {
            told.push(link)
          })
      })
      const fiber = yield* Effect.forkChild(Effect.provide(exported, service("Loading")))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(told, [link])
      assert.deepStrictEqual(yield* names, [])
    })
  )
})

layer(NodeServices.layer)("prepareFile", (it) => {
  it.effect("takes room before there is content, and leaves nothing of it", () =>
    Effect.gen(function* () {
      const { fs, names, target } = yield* place
      yield* Effect.scoped(
        Effect.gen(function* () {
          const write = yield* prepareFile(target, { reserve: 4096 })
          assert.strictEqual((yield* names).length, 1)
          assert.strictEqual(yield* write(Stream.make(bytes("short"))), 5)
        })
      )
      assert.strictEqual(yield* fs.readFileString(target), "short")
      assert.deepStrictEqual(yield* names, ["export.csv"])
    })
  )

  it.effect("overwrites what a killed program left under a fixed temporary name", () =>
    Effect.gen(function* () {
      const { fs, names, target } = yield* place
      const temporary = `${target}.tmp`
      yield* fs.writeFileString(temporary, "left over")
      yield* Effect.scoped(
        Effect.flatMap(prepareFile(target, { temporary }), (write) => write(Stream.make(bytes("new"))))
      )
      assert.strictEqual(yield* fs.readFileString(target), "new")
      assert.deepStrictEqual(yield* names, ["export.csv"])
    })
  )

  it.effect("leaves the target as it was where the last check refuses", () =>
    Effect.gen(function* () {
      const { fs, names, target } = yield* place
      yield* fs.writeFileString(target, "mine")
      const refused = Effect.scoped(
        Effect.flatMap(prepareFile(target), (write) => write(Stream.make(bytes("new")), Effect.fail("taken" as const)))
      )
      assert.strictEqual(yield* Effect.flip(refused), "taken")
      assert.strictEqual(yield* fs.readFileString(target), "mine")
      assert.deepStrictEqual(yield* names, ["export.csv"])
    })
  )
  it.effect("flushes the folder behind the rename, so that the name survives a power loss", () =>
    Effect.gen(function* () {
      const { fs, target } = yield* place
      const steps: Array<string> = []
      const step = (name: string) => Effect.sync(() => void steps.push(name))
      const folder = (yield* Path.Path).dirname(target)
      const watched = FileSystem.FileSystem.of({
        ...fs,
        rename: (from, to) => Effect.tap(fs.rename(from, to), () => step("rename")),
        open: (path, options) =>
          Effect.map(fs.open(path, options), (file) =>
            path === folder
              ? // Its other members stay those of the file.
                (Object.create(file, {
                  sync: { value: Effect.tap(file.sync, () => step("sync of the folder")) }
                }) as FileSystem.File)
              : file
          )
      })
      yield* Effect.flatMap(prepareFile(target), (write) => write(Stream.make(bytes("new")))).pipe(
        Effect.scoped,
        Effect.provideService(FileSystem.FileSystem, watched)
      )
      assert.deepStrictEqual(steps, ["rename", "sync of the folder"])
    })
  )
})
