/**
 * `roster serve` as a process with a fresh store, a fresh administrator key and any free port. The
 * scope ends it with SIGTERM, and it has to exit with code 0.
 */
import { TaggedError } from "@roster/domain"
import { Deferred, Effect, FileSystem, Path, Redacted, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"

/** A running `roster serve`: its address, key and files. */
export interface ServeProcess {
  /** The base address that the process says it listens on. */
  readonly baseUrl: string
  /** The administrator key that the process wrote to its key file. */
  readonly apiKey: Redacted.Redacted<string>
  /** The database file, which is none on PostgreSQL. */
  readonly filename: string
  /** The key file. */
  readonly keyFile: string
  /** The output of the process on stdout and stderr so far. */
  readonly output: () => string
}

/** The process ended before it listened, or did not end normally. */
export class ServeProcessFailed extends TaggedError<ServeProcessFailed>()("ServeProcessFailed", {
  exitCode: Schema.Int,
  output: Schema.String
}) {
  override get message(): string {
    return `roster serve ended with exit code ${this.exitCode}. It wrote:\n${this.output}`
  }
}

/** The command line beside this package: in a checkout, and where a package manager puts all packages into one folder. */
const bundle = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

/** The exit code of shells for a program that does not exist. */
const commandNotFound = 127

/** How the process is started. */
export interface ServeProcessOptions {
  /** Further arguments of `roster serve`. */
  readonly args?: ReadonlyArray<string> | undefined
  /** The PostgreSQL in place of a fresh database file, as `postgres://USER@HOST/DATABASE`. */
  readonly database?: Redacted.Redacted<string> | undefined
  /** The program and its first arguments (default: `roster`, which scripts of a package find in `node_modules/.bin`). */
  readonly program?: readonly [command: string, ...args: ReadonlyArray<string>] | undefined
}

/** Starts the process and waits until it listens. */
export const serveProcess = Effect.fn("serveProcess")(function* (options: ServeProcessOptions = {}) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-serve-" })
  const filename = path.join(folder, "roster.db")
  const keyFile = path.join(folder, "key")
  const { database } = options
  const file = database === undefined ? ["--db", filename] : []
  const environment = database === undefined ? {} : { ROSTER_DATABASE_URL: Redacted.value(database) }
  const args = ["serve", "--port", "0", ...file, "--key-file", keyFile, "--allow-sender", "*@example.com"]
  const beside = (yield* fileSystem.exists(bundle)) ? ([process.execPath, bundle] as const) : undefined
  const [command, ...first] = options.program ?? beside ?? ["roster"]
  const child = yield* ChildProcess.make(command, [...first, ...args, ...(options.args ?? [])], {
    cwd: folder,
    env: { HOME: folder, NO_COLOR: "1", ...environment },
    extendEnv: true,
    stdin: "ignore"
  }).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => {
      const missing = `There is no program ${command}. Install @roster/cli, or give the program.`
      return new ServeProcessFailed({ exitCode: commandNotFound, output: missing })
    })
  )

  let output = ""
  const listening = yield* Deferred.make<string>()
  const read = (stream: typeof child.stdout) =>
    stream.pipe(
      Stream.decodeText(),
      Stream.runForEach((text) => {
        output += text
        const address = /^listening on (\S+)\n/m.exec(output)?.[1]
        return address === undefined ? Effect.void : Deferred.succeed(listening, address)
      })
    )
  yield* Effect.forkScoped(Effect.all([read(child.stdout), read(child.stderr)], { concurrency: 2 }))
  const ended = child.exitCode.pipe(Effect.flatMap((exitCode) => new ServeProcessFailed({ exitCode, output })))
  const baseUrl = yield* Effect.raceFirst(Deferred.await(listening), ended).pipe(Effect.timeout("2 minutes"))

  yield* Effect.addFinalizer(() =>
    child.kill({ killSignal: "SIGTERM", forceKillAfter: "20 seconds" }).pipe(
      Effect.andThen(child.exitCode),
      Effect.flatMap((exitCode) => (exitCode === 0 ? Effect.void : new ServeProcessFailed({ exitCode, output }))),
      Effect.orDie
    )
  )

  const key = yield* fileSystem.readFileString(keyFile)
  const served: ServeProcess = {
    baseUrl,
    apiKey: Redacted.make(key.replace(/\n$/, "")),
    filename,
    keyFile,
    output: () => output
  }
  return served
})
