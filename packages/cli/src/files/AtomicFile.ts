/** Files written atomically and readable by their owner alone, with the checks and errors of a command. */
import { isOfDatabase, prepareFile } from "@roster/workflows"
import { Effect, FileSystem, Option, PlatformError, Stream } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"
import { usageError } from "../errors/UsageError.ts"

interface WriteOptions {
  /** Whether an existing file may be replaced. */
  readonly force: boolean
  /** Whether the file is a database, as a backup is (default: false). One that is not never replaces one. */
  readonly isDatabase?: boolean
  /** Whether the file is a workbook (default: false). One that is not has no name of one. */
  readonly isWorkbook?: boolean
  /** Name of the temporary file (default: random). A fixed name needs a lock; leftovers are overwritten. */
  readonly temporary?: string
}

/** Refuses a folder or a device, and an existing file unless `force` is set. */
export const refuseTaken = Effect.fnUntraced(function* (target: string, options: WriteOptions) {
  const fs = yield* FileSystem.FileSystem
  if (options.isDatabase !== true && (yield* isOfDatabase(target))) {
    return yield* usageError(`${target} belongs to a store and was not changed.`, "Use another file.")
  }
  if (options.isWorkbook !== true && /\.(?:xls[xmb]?|ods)$/i.test(target)) {
    return yield* usageError(
      `${target} is the name of a workbook, and this would be none.`,
      "Use another name. A workbook is written by: roster contacts export --format xlsx --out FILE.xlsx"
    )
  }
  const info = yield* Effect.option(fs.stat(target))
  if (Option.isNone(info)) return
  if (info.value.type === "Directory") {
    return yield* usageError(`${target} is a folder.`, "Name a file in it.")
  }
  // A rename would replace the device or pipe by a file, for every program that uses it.
  if (info.value.type !== "File") {
    return yield* usageError(`${target} is a device, a pipe or a socket, not a file.`, "Name a file.")
  }
  if (!options.force) {
    return yield* usageError(
      `${target} already exists and was not changed.`,
      "Use another file, or add --force to overwrite it."
    )
  }
})

/** Bytes reserved up front, more than any secret needs: a full disk is noticed before a secret is requested. */
const reserved = 4096

/** Checks that a file can be written, before any request; returns the function that writes it and gives its size. */
export const prepare = Effect.fnUntraced(function* (target: string, options: WriteOptions) {
  const fs = yield* FileSystem.FileSystem
  const check = Effect.provideService(refuseTaken(target, options), FileSystem.FileSystem, fs)
  const explained = <A, E, R>(effect: Effect.Effect<A, E | PlatformError.PlatformError, R>) =>
    effect.pipe(
      Effect.catchIf(PlatformError.isPlatformError, (error) => Effect.fail(fileProblem(target, "written")(error)))
    )
  yield* check
  const write = yield* explained(prepareFile(target, { reserve: reserved, temporary: options.temporary }))
  return <E, R>(content: Stream.Stream<Uint8Array, E, R>) => explained(write(content, check))
})

/** Writes a line of text as a whole file. */
export const writeLine = (target: string, line: string, options: WriteOptions) =>
  Effect.scoped(
    Effect.flatMap(prepare(target, options), (write) => write(Stream.make(new TextEncoder().encode(`${line}\n`))))
  )
