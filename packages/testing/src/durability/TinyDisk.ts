/**
 * A disk of its own that is soon full: a file system in memory, which only an administrator may mount.
 */
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

/** Whether file systems can be mounted here. */
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

/** An empty disk of some size. It is gone with the scope, whoever still uses it. */
export const tinyDisk = Effect.fn("tinyDisk")(function* (bytes: number) {
  const fileSystem = yield* FileSystem.FileSystem
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-tiny-" })
  yield* Effect.acquireRelease(
    Effect.sync(() => mount(folder, bytes)),
    () => Effect.sync(() => unmount(folder))
  )
  return folder
})

/** The bytes that are free on the disk of a folder. */
export const freeBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Takes room on a disk, up to some bytes that are left; what it answers gives the room back. */
export const fillUpTo = (folder: string, left: number): (() => void) => {
  const file = join(folder, `ballast-${randomUUID()}`)
  writeFileSync(file, Buffer.alloc(Math.max(0, freeBytes(folder) - left)))
  return () => rmSync(file)
}

/** A place whose store lies on one disk, and whose temporary files on another. */
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
