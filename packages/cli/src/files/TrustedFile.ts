/** Files that commands obey: nobody but this user and root may be able to change them. */
import { Effect } from "effect"
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, statSync } from "node:fs"
import type { Stats } from "node:fs"
import { dirname } from "node:path"
import { fileProblem } from "../errors/FileProblem.ts"
import { UsageError, usageError } from "../errors/UsageError.ts"
import { shellWord } from "../terminal/ResumeHint.ts"

/** The permission of the group or of everybody to write. */
const othersWrite = 0o022

/** Refuses a file or folder that is not to be trusted, with the command that mends it. Windows has neither owners nor modes. */
const checkOwner = (path: string, stats: Stats): void => {
  const self = process.getuid?.()
  if (self === undefined) return
  const mend = (command: string, isAllowed: boolean) =>
    `Check what is in it, then run: ${isAllowed ? "" : "sudo "}${command} ${shellWord(path)}`
  if (stats.uid !== self && stats.uid !== 0) {
    throw usageError(
      `${path} is not trusted: it belongs to another user (uid ${stats.uid}).`,
      mend(`chown ${self}`, self === 0)
    )
  }
  if ((stats.mode & othersWrite) === 0) return
  throw usageError(
    `${path} is not trusted: other users can change it.`,
    mend(stats.isDirectory() ? "chmod go-w" : "chmod 600", stats.uid === self || self === 0)
  )
}

/** The same for the file at `path`, which is called `given`: what is not a file is to be moved there, and not in /dev. */
const checkFile = (given: string, path: string, stats: Stats): void => {
  if (stats.isFile()) return checkOwner(path, stats)
  throw usageError(
    `${given} is ${stats.isDirectory() ? "a folder" : "a device, a pipe or a socket"}, not a file.`,
    `Move it away, for example with: mv ${shellWord(given)} ${shellWord(`${given}.old`)}`
  )
}

interface TrustedFile {
  /** The path without symbolic links: whoever replaced the given one would replace a link. */
  readonly path: string
  readonly text: string
}

/** Reads without waiting for a writer of a pipe. The file is judged before it is opened and, in case of a race, after. */
const readHere = (given: string, path: string): string => {
  checkFile(given, path, statSync(path))
  // Windows has no such flags.
  const { O_NOFOLLOW: noFollow = 0, O_NONBLOCK: noWait = 0, O_RDONLY: readOnly } = constants
  const descriptor = openSync(path, readOnly | noWait | noFollow)
  try {
    checkFile(given, path, fstatSync(descriptor))
    return readFileSync(descriptor, "utf8")
  } finally {
    closeSync(descriptor)
  }
}

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
