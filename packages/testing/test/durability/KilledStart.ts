/** Starts of `roster serve` that are killed as they enter a chosen system call. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { ServePlace } from "./KillableServe.ts"

const bin = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

/** Where to kill: at the call of this name and number on the files of the store, or on those of the key. */
export interface KillingCall {
  readonly on: "store" | "key"
  readonly call: string
  readonly number: number
}

/**
 * Starts the process under `strace` and waits for its end. Gives whether it was killed; one that comes to listen is
 * killed too, and gives `false`.
 */
export const killedStart = Effect.fn("killedStart")(function* (
  { filename, folder, keyFile, temporary }: ServePlace,
  { call, number, on }: KillingCall
) {
  const files =
    on === "store"
      ? [filename, `${filename}-wal`, `${filename}-journal`]
      : [keyFile, join(dirname(keyFile), ".key.roster.db.new")]
  const rules = ["-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${number}`]
  const tracing = ["-f", "-o", "/dev/null", ...rules, ...files.flatMap((file) => ["-P", file])]
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        "strace",
        [...tracing, process.execPath, bin, "serve", "--port", "0", "--db", filename, "--key-file", keyFile],
        {
          cwd: folder,
          // Calls are counted by thread: this way one makes those of the service, and another those of the store.
          env: { ...process.env, HOME: folder, TMPDIR: temporary, NO_COLOR: "1", UV_THREADPOOL_SIZE: "1" },
          stdio: ["ignore", "pipe", "ignore"],
          detached: true
        }
      )
    ),
    (child) => Effect.sync(() => killGroup(child.pid))
  )
  return yield* Effect.callback<boolean>((resume) => {
    let output = ""
    child.stdout.on("data", (text: Buffer) => {
      output += text.toString()
      if (output.includes("listening on")) killGroup(child.pid)
    })
    child.once("close", (_, signal) => {
      const isListening = output.includes("listening on")
      // strace ends as its process does.
      const isKnown = isListening || signal === "SIGKILL"
      resume(isKnown ? Effect.succeed(!isListening) : Effect.die(new Error(`the start ended by itself: ${output}`)))
    })
  }).pipe(Effect.timeout("2 minutes"))
}, Effect.scoped)

const killGroup = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL")
  } catch {
    // It has ended.
  }
}
