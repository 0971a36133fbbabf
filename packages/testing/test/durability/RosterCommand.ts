/** `roster` commands beside a running service. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { ServePlace } from "./KillableServe.ts"

const bin = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

/** How a command ended. */
export interface CommandEnd {
  /** The exit code, or `null` after a signal. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command on the store of a place to its end, or kills it with SIGKILL as soon as something is seen. */
export const runRoster = (
  { filename, folder }: Pick<ServePlace, "filename" | "folder">,
  args: ReadonlyArray<string>,
  options: {
    readonly input?: string
    readonly killOnce?: () => boolean
    /** Variables of the environment; without the database file of the place, which another one takes the place of. */
    readonly environment?: Readonly<Record<string, string>>
  } = {}
): Effect.Effect<CommandEnd> =>
  Effect.callback<CommandEnd>((resume) => {
    const store = options.environment === undefined ? ["--db", filename] : []
    const child = spawn(process.execPath, [bin, ...args, ...store], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
        NO_COLOR: "1",
        ...options.environment
      },
      stdio: "pipe"
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (text: Buffer) => {
      stdout += text.toString()
    })
    child.stderr.on("data", (text: Buffer) => {
      stderr += text.toString()
    })
    // A command that does not read its input closes it.
    child.stdin.on("error", () => {})
    child.stdin.end(options.input ?? "")
    const { killOnce } = options
    let hasEnded = false
    const look = () => {
      if (hasEnded) return
      if (killOnce?.() === true) child.kill("SIGKILL")
      else setTimeout(look, 1)
    }
    if (killOnce !== undefined) look()
    child.once("close", (code) => {
      hasEnded = true
      resume(Effect.succeed({ code, stdout, stderr }))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })
