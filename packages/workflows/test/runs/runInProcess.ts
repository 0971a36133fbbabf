/** Begins a run and appends one entry; then stays, to be killed, or appends until it cannot, and says how often it could. */
import { NodeFileSystem } from "@effect/platform-node"
import { RunLog } from "@roster/workflows"
import * as RunFiles from "@roster/workflows/RunFiles"
import { Effect, Layer } from "effect"

const [, , folder = "", target = "", what = "stay"] = process.argv

const program = Effect.gen(function* () {
  const log = yield* RunLog
  const run = yield* log.open({ command: "import", input: "file" })
  yield* run.append({ _tag: "Changes", created: [["ada@example.com", "digest"]] })
  if (what === "fill") {
    let appended = 1
    const add = run.append({ _tag: "Changes", created: [["ada@example.com", "digest"]] })
    const error = yield* Effect.flip(Effect.forever(Effect.tap(add, () => Effect.sync(() => appended++))))
    const again = yield* Effect.flip(add)
    process.send?.({ appended, messages: [error.message, again.message] })
    return
  }
  process.send?.(run.header.id)
  // Effect alone keeps no process.
  setInterval(() => undefined, 1000)
  return yield* Effect.never
})

const layer = Layer.provide(RunFiles.layer({ folder, target }), NodeFileSystem.layer)

await Effect.runPromise(Effect.scoped(Effect.provide(program, layer)))

process.disconnect?.()
