/** Makes system calls of a running process fail for a while. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { TraceFailed } from "./Strace.ts"

/** Injects failures with strace, such as `fsync:error=EIO`, until the scope ends. */
export const brokenCalls = Effect.fn("brokenCalls")(function* (pid: number, rule: string) {
  const calls = rule.split(":", 1)[0] ?? ""
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn("strace", ["-f", "-p", String(pid), "-o", "/dev/null", "-e", `trace=${calls}`, "-e", `inject=${rule}`], {
        stdio: ["ignore", "ignore", "pipe"]
      })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        // It detaches from the process, which continues.
        child.kill("SIGTERM")
      })
  )
  yield* Effect.callback<void, TraceFailed>((resume) => {
    let said = ""
    child.stderr.on("data", (text: Buffer) => {
      said += text.toString()
      if (said.includes("attached")) resume(Effect.void)
    })
    child.once("exit", () => resume(new TraceFailed({ cause: new Error(said) })))
  })
})
