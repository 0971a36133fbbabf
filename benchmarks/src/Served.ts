/** `roster serve`, from the bundle, on a store of its own: what a benchmark of the service asks over HTTP. */
import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { Agent, request } from "undici"
import { roster } from "./Files.ts"
import { cpuOf, peakOf } from "./Usage.ts"

export interface Served {
  /** With the segment of the version. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly filename: string
  readonly dispatcher: Agent
  readonly pid: number
  /** CPU seconds so far. */
  readonly cpu: () => number
  readonly peakMiB: () => number
}

/** Starts it on a database file, which is made where it is not there. A key that is there has to be given. */
export const serve = (
  filename: string,
  options: {
    readonly key?: string
    /** The address of a PostgreSQL in place of the file, which the key is kept beside. */
    readonly database?: string
    /** Flags of Node. */
    readonly flags?: ReadonlyArray<string>
    /** Further arguments of `roster serve`. */
    readonly arguments?: ReadonlyArray<string>
    /** Added to the environment. */
    readonly env?: Readonly<Record<string, string>>
  } = {}
): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const keyFile = `${filename}.key`
      const store = options.database === undefined ? ["--db", filename] : []
      const args = ["serve", "--port", "0", ...store, "--key-file", keyFile, ...(options.arguments ?? [])]
      const child = spawn(process.execPath, [...(options.flags ?? []), roster, ...args], {
        env: {
          ...process.env,
          ...(options.database === undefined ? {} : { ROSTER_DATABASE_URL: options.database }),
          ...options.env
        },
        stdio: ["ignore", "pipe", "inherit"]
      })
      const { pid } = child
      let said = ""
      const url = await new Promise<string>((resolve, reject) => {
        child.on("exit", (code) => reject(new Error(`roster serve ended with ${code}`)))
        child.stdout.on("data", (text) => {
          said += String(text)
          const address = /^listening on (\S+)\n/m.exec(said)?.[1]
          if (address !== undefined) resolve(address)
        })
      })
      if (pid === undefined) throw new Error("roster serve has no process")
      const key = options.key ?? readFileSync(keyFile, "utf8").trim()
      return { child, pid, url, key, dispatcher: new Agent({ connections: 8 }) }
    }),
    ({ child, dispatcher }) =>
      Effect.promise(async () => {
        await dispatcher.destroy()
        if (child.exitCode !== null) return
        const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()))
        child.kill("SIGTERM")
        await ended
      })
  ).pipe(
    Effect.map(({ dispatcher, key, pid, url }) => ({
      url,
      headers: { "x-service-apikey": key },
      filename,
      dispatcher,
      pid,
      cpu: () => cpuOf(pid),
      peakMiB: () => peakOf(pid)
    }))
  )

/** Sends a request, and fails where the answer is not what was to be expected. */
export const ask = async (
  { dispatcher, headers, url }: Served,
  method: "GET" | "POST",
  path: string,
  body?: string
): Promise<string> => {
  const json = body === undefined ? {} : { body, headers: { ...headers, "content-type": "application/json" } }
  const answer = await request(`${url}${path}`, { dispatcher, method, headers, ...json })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
  return text
}
