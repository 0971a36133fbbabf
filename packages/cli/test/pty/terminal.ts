/**
 * The bundled command line in a real pseudo-terminal, which util-linux `script` makes: what is typed reaches it as from a
 * keyboard, so that Ctrl-C is a signal and a hidden prompt hides.
 */
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { bin, environmentOf } from "../roster.ts"
import { screenOf } from "./screen.ts"

/** Whether this machine can make one. */
export const hasTerminal: boolean = (() => {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux")
  } catch {
    return false
  }
})()

export interface TerminalOptions {
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
  /** What a shell reads after the command: redirections, or a pipe into another one. */
  readonly tail?: string
}

export interface Seen {
  readonly code: number | null
  /** Every byte, as the terminal got it. */
  readonly raw: string
  /** What is to be read on it. */
  readonly screen: string
}

export interface Terminal {
  readonly type: (keys: string) => Effect.Effect<void>
  /** Waits until a text is on the screen. A command that ends without it is a failure, with what it said instead. */
  readonly shows: (text: string) => Effect.Effect<void>
  readonly ended: Effect.Effect<Seen>
  readonly raw: () => string
}

/** What a terminal says of itself. */
export const terminalEnvironment = { SHELL: "/bin/sh", TERM: "xterm-256color" } as const

export const keys = { enter: "\r", ctrlC: "\u0003", ctrlD: "\u0004" } as const

const quoted = (argument: string): string => `'${argument.replaceAll("'", "'\\''")}'`

/** Starts `roster` in a terminal of its own, which is gone with the scope. */
export const openTerminal = (folder: string, args: ReadonlyArray<string>, options: TerminalOptions = {}) => {
  const { columns = 80, env = {}, rows = 24, tail = "" } = options
  const command = [process.execPath, bin, ...args].map(quoted).join(" ")
  // A pipe is run by the shell; a command alone takes its place, and gets the signals itself.
  const line = `stty cols ${columns} rows ${rows}; ${tail.includes("|") ? "" : "exec "}${command} ${tail}`
  return Effect.acquireRelease(
    Effect.sync((): Terminal & { readonly stop: Effect.Effect<void> } => {
      const child = spawn("script", ["-qefc", line, "/dev/null"], {
        cwd: folder,
        env: { ...environmentOf(folder), ...terminalEnvironment, ...env },
        stdio: ["pipe", "pipe", "ignore"]
      })
      const parts: Array<Buffer> = []
      let changed = () => {}
      let code: number | null | undefined
      child.stdout.on("data", (part: Buffer) => {
        parts.push(part)
        changed()
      })
      child.stdin.on("error", () => {})
      const closed = new Promise<void>((resolve) => {
        child.once("close", (exit) => {
          code = exit
          changed()
          resolve()
        })
      })
      const raw = () => Buffer.concat(parts).toString()
      const until = async (isThere: () => boolean) => {
        while (!isThere()) {
          if (code !== undefined) throw new Error(`The command ended with ${code}, and said:\n${screenOf(raw())}`)
          await new Promise<void>((resolve) => {
            changed = resolve
          })
        }
      }
      return {
        type: (keys) => Effect.sync(() => child.stdin.write(keys)),
        shows: (text) => Effect.promise(() => until(() => screenOf(raw()).includes(text))),
        ended: Effect.promise(async () => {
          await closed
          return { code: code ?? null, raw: raw(), screen: screenOf(raw()) }
        }),
        raw,
        stop: Effect.promise(async () => {
          child.kill("SIGKILL")
          await closed
        })
      }
    }),
    ({ stop }) => stop
  )
}

/** Runs a command that asks nothing to its end. */
export const inTerminal = (folder: string, args: ReadonlyArray<string>, options?: TerminalOptions) =>
  Effect.scoped(Effect.flatMap(openTerminal(folder, args, options), ({ ended }) => ended))
