/**
 * `roster serve` as a process that can be killed at any moment and restarted on the same store. (`ServeProcess` has to
 * end normally.)
 */
import { Effect, FileSystem, Path, Redacted, Schema } from "effect"
import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { ServeProcessFailed } from "../../src/layers/ServeProcess.ts"

/** The location of a store and of what its processes leave behind. */
export interface ServePlace {
  readonly folder: string
  /** The database file. */
  readonly filename: string
  readonly keyFile: string
  /** The folder for temporary files, used by nobody else. */
  readonly temporary: string
}

/** A temporary location; the scope removes it. */
export const servePlace = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-killed-" })
  const temporary = path.join(folder, "tmp")
  mkdirSync(temporary)
  const place: ServePlace = {
    folder,
    filename: path.join(folder, "roster.db"),
    keyFile: path.join(folder, "key"),
    temporary
  }
  return place
})

/** The uploads in the temporary folder. */
export const uploadsIn = ({ temporary }: ServePlace): ReadonlyArray<string> =>
  readdirSync(temporary).filter((name) => name.startsWith("roster-"))

export interface KillableServe {
  /** The base address that the process says it listens on. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly pid: number
  /** Kills it at once, with SIGKILL. */
  readonly killNow: () => void
  /** Waits until it has ended in any way. */
  readonly ended: Effect.Effect<void>
  /** Stops it with SIGTERM, and fails unless it ends with exit code 0. */
  readonly stop: Effect.Effect<void, ServeProcessFailed>
  /** All that it has written to stdout and stderr so far. */
  readonly output: () => string
}

const bin = fileURLToPath(new URL("../../../cli/dist/roster.js", import.meta.url))

/** Starts the process and waits until it listens. It is killed with the scope. */
export const killableServe = Effect.fn("killableServe")(function* (
  place: ServePlace,
  options?: {
    readonly args?: ReadonlyArray<string> | undefined
    /** Variables of its environment, beside those of this process. */
    readonly env?: Readonly<Record<string, string>> | undefined
    /** The PostgreSQL in place of the database file. */
    readonly database?: Redacted.Redacted<string> | undefined
    /** The maximum heap size in MiB; the process dies if it needs more. */
    readonly heap?: number | undefined
    /** Opens the inspector of the process, by which `serveUsage` collects garbage. */
    readonly inspect?: boolean | undefined
  }
) {
  const { filename, folder, keyFile, temporary } = place
  const heap = options?.heap === undefined ? [] : [`--max-old-space-size=${options.heap}`]
  const inspector = options?.inspect === true ? ["--inspect=127.0.0.1:0"] : []
  const database = options?.database
  const args = ["serve", "--port", "0", ...(database === undefined ? ["--db", filename] : []), "--key-file", keyFile]
  const environment = database === undefined ? {} : { ROSTER_DATABASE_URL: Redacted.value(database) }
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [...heap, ...inspector, bin, ...args, ...(options?.args ?? [])], {
        cwd: folder,
        env: { ...process.env, ...options?.env, ...environment, HOME: folder, TMPDIR: temporary, NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )
  let output = ""
  const ended = Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })
  const failed = Effect.suspend(() => new ServeProcessFailed({ exitCode: child.exitCode ?? -1, output }))
  const listening = Effect.callback<string>((resume) => {
    const take = (text: Buffer) => {
      output += text.toString()
      const address = /^listening on (\S+)\n/m.exec(output)?.[1]
      if (address !== undefined) resume(Effect.succeed(address))
    }
    child.stdout.on("data", take)
    child.stderr.on("data", take)
  })
  const baseUrl = yield* Effect.raceFirst(listening, Effect.andThen(ended, failed)).pipe(Effect.timeout("2 minutes"))
  const serve: KillableServe = {
    baseUrl,
    apiKey: readFileSync(keyFile, "utf8").trim(),
    pid: child.pid ?? 0,
    killNow: () => {
      child.kill("SIGKILL")
    },
    ended,
    stop: Effect.suspend(() => {
      child.kill("SIGTERM")
      return Effect.andThen(
        ended,
        Effect.suspend(() => (child.exitCode === 0 ? Effect.void : failed))
      )
    }),
    output: () => output
  }
  return serve
})

/** The process ended before it answered. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { cause: Schema.Defect() }) {}

export interface ServeAnswer {
  readonly status: number
  readonly text: string
}

/** Sends a request to a path below the base address, with JSON or a form as its body, as a part of a run if one is named. */
export const askServe = (
  { apiKey, baseUrl }: KillableServe,
  method: string,
  path: string,
  body?: FormData | object,
  idempotencyKey?: string,
  run?: string
): Effect.Effect<ServeAnswer, NoAnswer> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        signal,
        headers: {
          "X-Service-ApiKey": apiKey,
          ...(body === undefined || body instanceof FormData ? {} : { "Content-Type": "application/json" }),
          ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
          ...(run === undefined ? {} : { "Roster-Run": run })
        },
        ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) })
      })
      return { status: response.status, text: await response.text() }
    },
    catch: (cause) => new NoAnswer({ cause })
  })

/** Downloads a link. */
export const download = (link: string): Effect.Effect<Uint8Array, NoAnswer> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(link, { signal })
      if (response.status !== 200) throw new Error(`the link answers ${response.status}`)
      return new Uint8Array(await response.arrayBuffer())
    },
    catch: (cause) => new NoAnswer({ cause })
  })
