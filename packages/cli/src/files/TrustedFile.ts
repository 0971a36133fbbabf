/** Files that commands read again, through no link, and those that they obey, which others must not be able to change. */
import { distrustOf } from "@roster/domain/internal"
import { shellWord } from "@roster/workflows"
import { Effect, Predicate } from "effect"
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs"
import type { Stats } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { dirname } from "node:path"
import { fileProblem } from "../errors/FileProblem.ts"
import { UsageError, usageError } from "../errors/UsageError.ts"

/** Refuses a file or folder that is not to be trusted, with the command that mends it. Windows has neither owners nor modes. */
const checkOwner = (path: string, stats: Stats): void => {
  const self = process.getuid?.()
  const distrust = distrustOf(stats, self)
  if (distrust === undefined) return
  const mend = (command: string, isAllowed: boolean) =>
    `Check what is in it, then run: ${isAllowed ? "" : "sudo "}${command} ${shellWord(path)}`
  if (distrust === "ForeignOwner") {
    throw usageError(
      `${path} is not trusted: it belongs to another user (uid ${stats.uid}).`,
      mend(`chown ${self}`, self === 0)
    )
  }
  throw usageError(
    `${path} is not trusted: other users can change it.`,
    mend(stats.isDirectory() ? "chmod go-w" : "chmod 600", stats.uid === self || self === 0)
  )
}

const noFile = (given: string, stats: Stats, hint: string): UsageError =>
  usageError(`${given} is ${stats.isDirectory() ? "a folder" : "a device, a pipe or a socket"}, not a file.`, hint)

/** Refuses what is no file at `path`, or not to be trusted. The error names `given`, by which the user knows it. */
const checkFile = (given: string, path: string, stats: Stats): void => {
  if (stats.isFile()) return checkOwner(path, stats)
  throw noFile(given, stats, `Move it away, for example with: mv ${shellWord(given)} ${shellWord(`${given}.old`)}`)
}

interface TrustedFile {
  /** The path without symbolic links, where a new file replaces the old one and not a link to it. */
  readonly path: string
  readonly text: string
}

/** Reads without following a link or waiting for a writer of a pipe, if `judge` takes what it opened. */
const readOpened = (path: string, judge: (stats: Stats) => boolean): string | undefined => {
  // Windows has no such flags.
  const { O_NOFOLLOW: noFollow = 0, O_NONBLOCK: noWait = 0, O_RDONLY: readOnly } = constants
  const descriptor = openSync(path, readOnly | noWait | noFollow)
  try {
    return judge(fstatSync(descriptor)) ? readFileSync(descriptor, "utf8") : undefined
  } finally {
    closeSync(descriptor)
  }
}

/** The file is judged before it is opened and, in case of a race, after. */
const readHere = (given: string, path: string): string => {
  checkFile(given, path, statSync(path))
  return (
    readOpened(path, (stats) => {
      checkFile(given, path, stats)
      return true
    }) ?? ""
  )
}

/** The codes where there is no file, or a link that is not followed. */
const absent: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EMLINK"])

/**
 * Reads what this program has written at a name that others may know; `undefined` if no such file is there, or a link, a
 * second name of another file, or one of more than `maximumBytes`.
 */
export const readOwn = (file: string, maximumBytes: number): Effect.Effect<string | undefined, UsageError> =>
  Effect.try({
    try: () => {
      try {
        return readOpened(file, (stats) => stats.isFile() && stats.nlink === 1 && stats.size <= maximumBytes)
      } catch (cause) {
        if (Predicate.hasProperty(cause, "code") && absent.has(cause.code)) return undefined
        throw cause
      }
    },
    catch: fileProblem(file, "read")
  })

const read = (file: string): TrustedFile | undefined => {
  const folder = dirname(file)
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  checkOwner(folder, stats)
  const entry = lstatSync(file, { throwIfNoEntry: false })
  if (entry === undefined) return undefined
  if (entry.isSymbolicLink() && statSync(file, { throwIfNoEntry: false }) === undefined) {
    throw usageError(
      `${file} is a symbolic link to a file that does not exist.`,
      `Create that file, or remove the link: rm ${shellWord(file)}`
    )
  }
  const path = realpathSync(file)
  checkOwner(dirname(path), statSync(dirname(path)))
  return { path, text: readHere(file, path) }
}

/** Reads a file of settings, through symbolic links; `undefined` if it does not exist. Its folder must be trusted too. */
export const readTrusted = (file: string): Effect.Effect<TrustedFile | undefined, UsageError> =>
  Effect.try({
    try: () => read(file),
    catch: (cause) => (cause instanceof UsageError ? cause : fileProblem(file, "read")(cause))
  })

/** Opens a file that was named to be obeyed, through symbolic links. It is judged by what was opened. */
export const openTrusted = (path: string): Effect.Effect<FileHandle, UsageError> =>
  Effect.tryPromise({
    try: async () => {
      const handle = await open(path, "r")
      try {
        const stats = await handle.stat()
        if (!stats.isFile()) throw noFile(path, stats, "Name a file.")
        checkOwner(path, stats)
        return handle
      } catch (cause) {
        await handle.close()
        throw cause
      }
    },
    catch: (cause) => (cause instanceof UsageError ? cause : fileProblem(path, "read")(cause))
  })
