/** A small disk: a file system in memory, which only root may mount. */
import { Effect, FileSystem, Path } from "effect"
import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ServePlace } from "./KillableServe.ts"

const mount = (folder: string, bytes: number) =>
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "roster", folder], { stdio: "ignore" })

const unmount = (folder: string) => execFileSync("umount", ["--lazy", folder], { stdio: "ignore" })

/** Whether this process may mount file systems. */
export const canMount: boolean = (() => {
  const folder = mkdtempSync(join(tmpdir(), "roster-mount-"))
  try {
    mount(folder, 4096)
    unmount(folder)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
})()

/** An empty disk of the given size; the scope removes it even if it is in use. */
export const tinyDisk = Effect.fn("tinyDisk")(function* (bytes: number) {
  const fileSystem = yield* FileSystem.FileSystem
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-tiny-" })
  yield* Effect.acquireRelease(
    Effect.sync(() => mount(folder, bytes)),
    () => Effect.sync(() => unmount(folder))
  )
  return folder
})

/** The free bytes on the disk of a folder. */
export const freeBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Fills a disk except for the given number of bytes; the returned effect frees the space. */
export const fillUpTo = (folder: string, left: number): (() => void) => {
  const file = join(folder, `ballast-${randomUUID()}`)
  writeFileSync(file, Buffer.alloc(Math.max(0, freeBytes(folder) - left)))
  return () => rmSync(file)
}

/** A location with its store on one disk and its temporary files on another. */
export const tinyPlace = Effect.fn("tinyPlace")(function* (bytes: {
  readonly store: number
  readonly temporary: number
}) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-full-" })
  const disk = yield* tinyDisk(bytes.store)
  const place: ServePlace = {
    folder,
    filename: path.join(disk, "roster.db"),
    keyFile: path.join(folder, "key"),
    temporary: yield* tinyDisk(bytes.temporary)
  }
  return { disk, place }
})
