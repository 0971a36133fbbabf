/** Explains why a file cannot be read or written. */
import { PlatformError, Predicate } from "effect"
import { UsageError } from "./UsageError.ts"

const reasons: { readonly [code: string]: string } = {
  ENOENT: "no such file or folder",
  ENOTDIR: "no such folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  EEXIST: "it already exists",
  EISDIR: "it is a folder",
  EBUSY: "another program is using it",
  ENOSPC: "the disk is full",
  EMFILE: "too many files are open"
}

const systemError = (error: unknown): unknown => (PlatformError.isPlatformError(error) ? error.reason.cause : error)

/** Maps a system error about `path` to a `UsageError`. */
export const fileProblem =
  (path: string, doing: "read" | "written") =>
  (error: unknown): UsageError => {
    const cause = systemError(error)
    const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : "unknown"
    return new UsageError({
      code: "FileProblem",
      message: `${path} cannot be ${doing}: ${reasons[code] ?? `the system says ${code}`}.`,
      hint:
        code === "EEXIST" ? "It was not changed: move it, or use another file." : "Check the path and its permissions."
    })
  }
