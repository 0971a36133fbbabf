/**
 * The file that takes the administrator key of a new store: for its owner alone, and complete on the disk before anything
 * else happens.
 */
import { Effect, FileSystem, Redacted } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"

/** Writes the key and a line break. A file that is there already is left as it is, whatever it holds. */
export const write = Effect.fnUntraced(function* (path: string, key: Redacted.Redacted<string>) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(path, { flag: "wx", mode: 0o600 })
      yield* file.writeAll(new TextEncoder().encode(`${Redacted.value(key)}\n`)).pipe(
        Effect.andThen(file.sync),
        Effect.onError(() => Effect.ignore(fs.remove(path)))
      )
    })
  ).pipe(Effect.mapError(fileProblem(path, "written")))
})
