/** What is measured: a trial in a process of its own, a server beside it, or a whole command. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { bundle } from "./Bundle.ts"
import type { Figure } from "./Trial.ts"
import { cpuOf, cpuOfEnded, peakOf } from "./Usage.ts"

/** One way to do what a benchmark is about. */
export interface Variant {
  readonly name: string
  readonly run: Effect.Effect<Figure>
}

/** A server that runs beside trials. */
export interface Server {
  readonly url: string
  readonly pid: number
  /** CPU seconds so far. */
  readonly cpu: () => number
  readonly peakMiB: () => number
}

export type Arguments = Readonly<Record<string, string | number>>

const flags = (values: Arguments): Array<string> =>
  Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)])

/** The lines of a process that are JSON, as they come. */
const lines = async function* (child: ChildProcess): AsyncGenerator<string> {
  let rest = ""
  for await (const piece of child.stdout ?? []) {
    const parts = `${rest}${String(piece)}`.split("\n")
    rest = parts.pop() ?? ""
    yield* parts
  }
}

/** Runs a trial of `benchmarks` and gives what it says. The sources are bundled first. */
export const runTrial = Effect.fnUntraced(function* (source: URL, values: Arguments = {}) {
  const file = yield* bundle(source.pathname)
  return yield* Effect.promise(async (): Promise<Figure> => {
    const child = spawn(process.execPath, [file, ...flags(values)], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
    let last = ""
    for await (const line of lines(child)) last = line
    const code = await ended
    if (code !== 0) throw new Error(`${source.pathname} ended with ${code}`)
    // What `Trial.ts` wrote.
    return JSON.parse(last) as Figure
  })
})

/** A trial of `benchmarks` as a variant. */
export const trial = (name: string, source: URL, values: Arguments = {}): Variant => ({
  name,
  run: runTrial(source, values)
})

/** Starts a server of `benchmarks`, which ends with the scope. */
export const server = (source: URL, values: Arguments = {}): Effect.Effect<Server, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.flatMap(bundle(source.pathname), (file) =>
      Effect.promise(async () => {
        const child = spawn(process.execPath, [file, ...flags(values)], { stdio: ["ignore", "pipe", "inherit"] })
        const { value } = await lines(child).next()
        if (value === undefined || child.pid === undefined) throw new Error(`${source.pathname} does not listen`)
        // What `Trial.ts` wrote.
        const { port } = JSON.parse(String(value)) as { readonly port: number }
        child.stdout.resume()
        return { child, port, pid: child.pid }
      })
    ),
    ({ child }) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            child.on("exit", () => resolve())
            if (child.exitCode === null) child.kill("SIGKILL")
            else resolve()
          })
      )
  ).pipe(
    Effect.map(({ pid, port }) => ({
      url: `http://127.0.0.1:${port}`,
      pid,
      cpu: () => cpuOf(pid),
      peakMiB: () => peakOf(pid)
    }))
  )

/** Tells the peak of a process of Node on its third descriptor when it ends. */
export const peakHook = `data:text/javascript,${encodeURIComponent(
  `import{readFileSync,writeSync}from"node:fs";process.on("exit",()=>writeSync(3,String(/VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status","utf8"))[1]/1024)))`
)}`

/**
 * Runs of a whole command, one after another: the figure is the mean of `starts` of them. Its memory is looked at in a run
 * of its own, since looking costs time.
 */
export const command = (
  name: string,
  [program, ...args]: readonly [string, ...ReadonlyArray<string>],
  options: { readonly starts?: number; readonly env?: Readonly<Record<string, string>> } = {}
): Variant => ({
  name,
  run: Effect.sync(() => {
    const { env = {}, starts = 10 } = options
    const start = (file: string, argv: ReadonlyArray<string>, memory: boolean) => {
      const { output, status } = spawnSync(file, argv, {
        env: { ...process.env, ...env },
        stdio: ["ignore", "ignore", "pipe", ...(memory ? ["pipe" as const] : [])]
      })
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${String(output?.[2])}`)
      return Number(output?.[3] ?? 0)
    }
    const before = { at: performance.now(), cpu: cpuOfEnded() }
    for (let i = 0; i < starts; i++) start(program, args, false)
    const seconds = (performance.now() - before.at) / 1000
    const cpuSeconds = cpuOfEnded() - before.cpu
    const peakMiB = program === process.execPath ? start(program, ["--import", peakHook, ...args], true) : 0
    return { units: starts, seconds, cpuSeconds, peakMiB }
  })
})
