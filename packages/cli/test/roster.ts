/**
 * The command line as a process of its own, with an empty home and an empty environment.
 */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** Whether this is the nightly run, which tries more, and larger sizes. */
export const longRun = process.env["ROSTER_LONG_RUN"] !== undefined

/** The bundled file, which the test run makes first: what is tested is what is published. */
export const bin = fileURLToPath(new URL("../dist/roster.js", import.meta.url))

/**
 * The environment of a user whose home is a folder, and nothing else but the compiled sources of earlier starts, as
 * `vitest.config.ts` says: half the time of each start is theirs.
 */
export const environmentOf = (folder: string): Readonly<Record<string, string>> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? ""
})

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
}

/** A folder that is gone after the test. */
export const temporaryFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-cli-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const start = (
  folder: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {}
): ChildProcess =>
  spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: { ...environmentOf(folder), ...env },
    stdio: ["pipe", "pipe", "pipe"]
  })

/** Everything that a process says, once it has ended. */
export const ended = (child: ChildProcess): Promise<Ended> =>
  new Promise((done, reject) => {
    const out: Array<Buffer> = []
    const err: Array<Buffer> = []
    child.stdout?.on("data", (part: Buffer) => out.push(part))
    child.stderr?.on("data", (part: Buffer) => err.push(part))
    child.on("error", reject)
    child.on("close", (code) =>
      done({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() })
    )
  })

export interface Roster {
  readonly folder: string
  readonly run: (args: ReadonlyArray<string>, options?: RunOptions) => Effect.Effect<Ended>
}

/** Runs commands in a folder of their own. */
export const makeRoster = Effect.map(temporaryFolder, (folder): Roster => ({
  folder,
  run: (args, options = {}) =>
    Effect.promise(() => {
      const child = start(folder, args, options.env)
      // A command that does not read its input closes it.
      child.stdin?.on("error", () => {})
      child.stdin?.end(options.input ?? "")
      return ended(child)
    })
}))

/** The same on a store file: every command that follows has `--db`. */
export const makeLocalRoster = Effect.map(makeRoster, ({ folder, run }): Roster => ({
  folder,
  run: (args, options) => run([...args, "--db", join(folder, "store.db")], options)
}))

/** What is in the folder of a user, but for what commands remember in their own folders. */
export const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).filter((name) => name !== ".local")

/** What JSON on stdout says. */
export const json = ({ stdout }: Pick<Ended, "stdout">): unknown => JSON.parse(stdout)

/** The same, where the caller says which record its command prints. */
export const jsonOf = <A>({ stdout }: Pick<Ended, "stdout">): A => JSON.parse(stdout)

/** The failure as a program reads it: the last line of stderr. */
export const failure = ({
  stderr
}: Pick<Ended, "stderr">): {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly resume?: string
  readonly run?: string
  readonly undo?: string
} => JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "")
