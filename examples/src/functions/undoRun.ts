import { RunLog, undoRun } from "@roster/workflows"
import { Console, Effect } from "effect"

export const example = Effect.gen(function* () {
  const [newest] = yield* (yield* RunLog).list
  if (newest === undefined) return undefined
  return yield* undoRun(newest.header.id, { onProgress: (done) => Console.error(`${done} contacts`) })
})
