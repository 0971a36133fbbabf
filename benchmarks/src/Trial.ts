/**
 * The inside of a trial: a process that does one thing once and says, in the last line that it writes, what it cost.
 */
import { performance } from "node:perf_hooks"
import { peakOf } from "./Usage.ts"

/** What one run of one variant cost. */
export interface Figure {
  /** How many of what is counted: calls, rows, starts. */
  readonly units: number
  readonly seconds: number
  /** Of the whole process, kernel and worker threads included. */
  readonly cpuSeconds: number
  /** The most memory that the process held at any time, in MiB; 0 where nobody looked. */
  readonly peakMiB: number
  /** What else was measured, by name. */
  readonly more?: Readonly<Record<string, number>>
}

const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1e6
}

const report = (figure: Omit<Figure, "peakMiB">): void => {
  const peakMiB = peakOf("self")
  process.stdout.write(`${JSON.stringify({ ...figure, peakMiB } satisfies Figure)}\n`)
}

/**
 * Measures from the start of the process: what it takes to load the code counts. `run` gives the units, and what else it
 * measured.
 */
export const whole = async (run: () => Promise<number | Pick<Figure, "units" | "more">>): Promise<void> => {
  const result = await run()
  const counted = typeof result === "number" ? { units: result } : result
  report({ ...counted, seconds: performance.now() / 1000, cpuSeconds: cpuSeconds() })
}

/** Measures the second of two runs: what a process costs that has been running for a while. `run` gives the units. */
export const steady = async (run: () => Promise<number>): Promise<void> => {
  await run()
  const started = { at: performance.now(), cpu: cpuSeconds() }
  const units = await run()
  report({ units, seconds: (performance.now() - started.at) / 1000, cpuSeconds: cpuSeconds() - started.cpu })
}

/** Says that a server listens. It lives until it is killed. */
export const listening = (port: number): void => {
  process.stdout.write(`${JSON.stringify({ port })}\n`)
}

/** The value of an argument `--name value`. */
export const argument = (name: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  const value = at < 0 ? undefined : process.argv[at + 1]
  if (value === undefined) throw new Error(`the trial needs --${name}`)
  return value
}
