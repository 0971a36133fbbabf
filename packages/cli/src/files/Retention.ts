/** Files that are kept for a time, and within a number of them. */
import { Clock, Duration, Effect, FileSystem, Option } from "effect"

/** How long files are kept, and how many there may be. */
export interface Retention {
  readonly keptFor: Duration.Duration
  readonly maximumFiles?: number
}

/** Removes those of some files that are too old, and the oldest of too many. */
export const removeOld = Effect.fnUntraced(function* (files: ReadonlyArray<string>, retention: Retention) {
  const { keptFor, maximumFiles = Number.POSITIVE_INFINITY } = retention
  const fs = yield* FileSystem.FileSystem
  const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(keptFor)
  const found = yield* Effect.forEach(files, (file) =>
    // One that another process has just removed.
    Effect.match(fs.stat(file), {
      onFailure: () => [],
      onSuccess: ({ mtime }) => [{ file, time: Option.match(mtime, { onNone: () => 0, onSome: Number }) }]
    })
  )
  let count = 0
  for (const one of found.flat().sort((a, b) => b.time - a.time)) {
    count++
    if (one.time < oldest || count > maximumFiles) yield* Effect.ignore(fs.remove(one.file))
  }
})
