/**
 * Files that a command reads, where `-` is standard input.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Stdio, Stream } from "effect"
import { createReadStream } from "node:fs"
import { fileProblem } from "../errors/FileProblem.ts"
import * as GlobalFlags from "./GlobalFlags.ts"
import { type UsageError, usageError } from "../errors/UsageError.ts"

/** How much of a file is read at once. */
const pieceBytes = 128 * 1024

/**
 * The bytes of a file as they come, from start to end and no place twice, so that a pipe (`<(zcat file)`) does as well.
 */
export const readBytes = Effect.fnUntraced(function* (path: string) {
  if (path === "-") return Stream.mapError((yield* Stdio.Stdio).stdin, fileProblem("Standard input", "read"))
  return NodeStream.fromReadable<Uint8Array, UsageError>({
    evaluate: () => createReadStream(path, { highWaterMark: pieceBytes }),
    onError: fileProblem(path, "read")
  })
})

/**
 * Refuses what would read standard input twice, before anybody has read it once: it can be one of the files, or the key.
 */
export const checkInputs = Effect.fnUntraced(function* (paths: ReadonlyArray<string | undefined>) {
  if ([yield* GlobalFlags.apiKeyFile, ...paths].filter((path) => path === "-").length > 1) {
    return yield* usageError("Stdin can be used only once.", "Use - for one of the inputs, and files for the others.")
  }
})

/** A whole file as text. */
export const readText = Effect.fnUntraced(function* (path: string) {
  return yield* textOf(path, yield* readBytes(path))
})

/** Far more than any key has. A device that never ends is no key either. */
const largestKeyFile = 64 * 1024

/** The file that holds the key, without the line break at its end. */
export const readKey = Effect.fnUntraced(function* (path: string) {
  let size = 0
  const bytes = Stream.tap(yield* readBytes(path), (part) => {
    size += part.length
    return size > largestKeyFile
      ? Effect.fail(usageError(`${path} is too large to be a key file.`, "Use the file that contains the key."))
      : Effect.void
  })
  return (yield* textOf(path, bytes)).trim()
})

const textOf = (path: string, bytes: Stream.Stream<Uint8Array, UsageError>): Effect.Effect<string, UsageError> =>
  Effect.flatMap(Stream.runCollect(bytes), (parts) =>
    Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts)),
      catch: () => usageError(`${path} is not UTF-8 text.`, "Save it as UTF-8.")
    })
  )
