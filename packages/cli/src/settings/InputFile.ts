/** Files that a command reads; `-` is standard input. */
import { shellWord } from "@roster/workflows"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, FileSystem, Option, Stdio, Stream } from "effect"
import { createReadStream } from "node:fs"
import { fileProblem } from "../errors/FileProblem.ts"
import { openTrusted } from "../files/TrustedFile.ts"
import * as GlobalFlags from "./GlobalFlags.ts"
import { type UsageError, usageError } from "../errors/UsageError.ts"
import { Output } from "../terminal/Output.ts"

/** Size in bytes of the pieces of a file. */
const pieceBytes = 128 * 1024

/** The bytes of a file, read once from start to end, so that a pipe (`<(zcat file)`) works too. */
export const readBytes = Effect.fnUntraced(function* (path: string) {
  if (path === "-") return Stream.mapError((yield* Stdio.Stdio).stdin, fileProblem("Standard input", "read"))
  return NodeStream.fromReadable<Uint8Array, UsageError>({
    evaluate: () => createReadStream(path, { highWaterMark: pieceBytes }),
    onError: fileProblem(path, "read")
  })
})

/** The bytes of a file that says what to do, such as a plan. Others must not be able to change it. */
export const readObeyed = (path: string): Stream.Stream<Uint8Array, UsageError> =>
  Stream.unwrap(
    Effect.map(openTrusted(path), (file) =>
      NodeStream.fromReadable<Uint8Array, UsageError>({
        evaluate: () => file.createReadStream({ highWaterMark: pieceBytes }),
        onError: fileProblem(path, "read")
      })
    )
  )

/** Refuses standard input and a pipe for what is read more than once. */
export const refuseStream = Effect.fnUntraced(function* (path: string, what: string) {
  const fs = yield* FileSystem.FileSystem
  const info = path === "-" ? Option.none() : yield* Effect.option(fs.stat(path))
  if (path !== "-" && (Option.isNone(info) || info.value.type === "File" || info.value.type === "Directory")) return
  return yield* usageError(`${what} is read more than once.`, "Save it to a file, and name that file.")
})

/** Refuses standard input for more than one input, the key included. */
export const checkInputs = Effect.fnUntraced(function* (paths: ReadonlyArray<string | undefined>) {
  if ([yield* GlobalFlags.apiKeyFile, ...paths].filter((path) => path === "-").length > 1) {
    return yield* usageError("Stdin can be used only once.", "Use - for one of the inputs, and files for the others.")
  }
})

/** A whole file as UTF-8 text. */
export const readText = (path: string) => Effect.flatMap(readBytes(path), (bytes) => decodedText(path, bytes))

/** Maximum size of a key file in bytes: a device such as /dev/zero never ends. */
const largestKeyFile = 64 * 1024

/** The permissions of the group or of everybody to read or write. Windows has none. */
const others = process.getuid === undefined ? 0 : 0o066

/** Names a key file that is not private. It is not refused: containers mount secrets that everybody in them can read. */
export const nameShared = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.option(fs.stat(path))
  if (Option.isNone(info) || info.value.type !== "File" || (info.value.mode & others) === 0) return
  const output = yield* Output
  yield* output.note(`warning: other users can read or change the key in ${path}. Run: chmod 600 ${shellWord(path)}`)
})

/** The key in a file, without surrounding white space. */
export const readKey = Effect.fnUntraced(function* (path: string) {
  let size = 0
  const bytes = Stream.tap(yield* readBytes(path), (part) => {
    size += part.length
    return size > largestKeyFile
      ? Effect.fail(usageError(`${path} is too large to be a key file.`, "Use the file that contains the key."))
      : Effect.void
  })
  const key = (yield* decodedText(path, bytes)).trim()
  if (path !== "-") yield* nameShared(path)
  return key
})

const decodedText = (path: string, bytes: Stream.Stream<Uint8Array, UsageError>): Effect.Effect<string, UsageError> =>
  Effect.flatMap(Stream.runCollect(bytes), (parts) =>
    Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts)),
      catch: () => usageError(`${path} is not UTF-8 text.`, "Save it as UTF-8.")
    })
  )
