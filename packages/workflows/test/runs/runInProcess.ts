/** Begins a run, appends one entry, and stays: a process to be killed. */
import { RunLog } from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Effect } from "effect"

const [, , folder = "", target = ""] = process.argv

const program = Effect.gen(function* () {
  const log = yield* RunLog
  const run = yield* log.open({ command: "import", input: "file" })
  yield* run.append({ _tag: "Changes", created: [["ada@example.com", "digest"]] })
  process.send?.(run.header.id)
  // Effect alone keeps no process.
  setInterval(() => undefined, 1000)
  return yield* Effect.never
})

await Effect.runPromise(Effect.scoped(Effect.provide(program, RunFiles.layer({ folder, target }))))
