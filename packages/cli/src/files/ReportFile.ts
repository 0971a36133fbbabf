/** The file of `--report`, which takes the result in place of standard output. It has its name, whole, when the command ends. */
import { syncFolder } from "@roster/workflows"
import { Effect, FileSystem, Path, type PlatformError } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"
import { ResultSink } from "../terminal/Output.ts"
import { refuseTaken } from "./AtomicFile.ts"

/**
 * Runs a command whose result goes into a file, which is checked and opened before anything is done. An older report is
 * replaced, and stays where the command has no result.
 */
export const withReport =
  (target: string | undefined) =>
  <A, E, R>(command: Effect.Effect<A, E, R>) =>
    target === undefined
      ? command
      : Effect.scoped(
          Effect.gen(function* () {
            const fs = yield* FileSystem.FileSystem
            const path = yield* Path.Path
            const explained = <B, R2>(effect: Effect.Effect<B, PlatformError.PlatformError, R2>) =>
              Effect.mapError(effect, fileProblem(target, "written"))
            yield* refuseTaken(target, { force: true })
            const partial = path.join(path.dirname(target), `.${path.basename(target)}.${crypto.randomUUID()}.partial`)
            yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(partial, { force: true })))
            // Exclusive: nobody else's file or link is written to.
            const file = yield* explained(fs.open(partial, { flag: "wx", mode: 0o600 }))
            let hasResult = false
            const write = (part: string | Uint8Array) => {
              hasResult = true
              return file.writeAll(typeof part === "string" ? new TextEncoder().encode(part) : part)
            }
            const named = Effect.suspend(() =>
              hasResult
                ? Effect.all([file.sync, fs.rename(partial, target), syncFolder(fs, path.dirname(target))], {
                    discard: true
                  })
                : Effect.void
            )
            const result = yield* Effect.exit(Effect.provideService(command, ResultSink, write))
            yield* explained(named)
            return yield* result
          })
        )
