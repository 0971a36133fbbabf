import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { type Benchmark, claimRatio } from "../src/Benchmark.ts"
import { compare, median, valueOf } from "../src/Comparison.ts"
import { roster } from "../src/Files.ts"
import { rounds } from "../src/Settings.ts"
import type { Figure } from "../src/Trial.ts"
import { server, trial } from "../src/Variant.ts"

/** Tells on the third descriptor what a whole process of Node has cost. */
const hook = `data:text/javascript,${encodeURIComponent(`import { readFileSync, writeSync } from "node:fs"
process.on("exit", () => {
  const { system, user } = process.cpuUsage()
  const [seconds, cpuSeconds] = [performance.now() / 1000, (system + user) / 1e6]
  const peakMiB = Number(/^VmHWM:\\s+(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024
  writeSync(3, JSON.stringify({ seconds, cpuSeconds, peakMiB }))
})`)}`

const listAll = (baseUrl: string, contacts: number) => ({
  name: "roster contacts list --all -o ndjson" as const,
  run: Effect.sync((): Figure => {
    const args = ["--import", hook, roster, "contacts", "list", "--all", "-o", "ndjson", "--base-url", baseUrl]
    const env = { ...process.env, ROSTER_API_KEY: "a".repeat(64) }
    const { output, status } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe", "pipe"] })
    if (status !== 0) throw new Error(`roster ended with ${status}: ${String(output[2])}`)
    // What the hook wrote.
    return { ...(JSON.parse(String(output[3])) as Omit<Figure, "units">), units: contacts }
  })
})

const served = Effect.fnUntraced(function* (contacts: number) {
  const { url } = yield* server(new URL("server.ts", import.meta.url), { contacts })
  return `${url}/v4`
})

const run = Effect.gen(function* () {
  const [few, many] = [1_000_000, 4_000_000]
  const url = yield* served(few)
  const plain = { name: "plain loop" as const }
  const runs = yield* compare([
    { ...trial(plain.name, new URL("plainLoop.ts", import.meta.url), { url, output: "/dev/null" }), ...plain },
    listAll(url, few)
  ])
  const longRuns = yield* compare([listAll(yield* served(many), many)], { rounds: Math.min(rounds, 3) })
  const own = "roster contacts list --all -o ndjson"
  const peak = (figures: ReadonlyArray<Figure>) => median(figures.map((figure) => valueOf("memory", figure)))
  return {
    tables: [
      { title: "10^6 contacts", unit: "row", reference: plain.name, runs },
      { title: "4·10^6 contacts", unit: "row", reference: own, runs: longRuns }
    ],
    notes: [
      "In a profile of the main thread, JSON.parse takes 28 %, writing the lines 31 %, garbage collection 11 " +
        "% and validating the fields 9 %. The next page is requested meanwhile, so the command waits less than " +
        "the loop does. Of the peak, some 75 MiB are V8's heap, 50 MiB are Node itself, and most of the rest " +
        "is answers that have not been collected yet."
    ],
    claims: [
      claimRatio("10^6 contacts to NDJSON, rows/s of the plain loop", runs, "rate", own, plain.name, { atLeast: 0.95 }),
      { what: "peak memory of 10^6 contacts", value: peak(runs[own]), target: { atMost: 200 }, unit: "MiB" },
      { what: "peak memory of 4·10^6 contacts", value: peak(longRuns[own]), target: { atMost: 200 }, unit: "MiB" },
      {
        what: "peak memory of 4·10^6 contacts, of that of 10^6",
        value: peak(longRuns[own]) / peak(runs[own]),
        target: { atMost: 1.1 },
        unit: "×"
      }
    ]
  }
})

/** What it costs to read all contacts of a service. */
export const streamBenchmark: Benchmark = {
  name: "stream",
  title: "All contacts by paging, to NDJSON",
  about:
    "Measures the whole command from start to exit: pages of 1000, every field validated, no contact " +
    "delivered twice or left out when others are deleted meanwhile. The reference is a script that requests " +
    "one page after another with undici, parses it and writes each record with JSON.stringify, unchecked. " +
    "Both write to /dev/null; the server, in another process, makes its pages at almost no cost.",
  run
}
