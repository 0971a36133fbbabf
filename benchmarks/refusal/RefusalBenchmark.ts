/** Whether the time of a refusal says how much of a key is right. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { join } from "node:path"
import type { Benchmark } from "../src/Benchmark.ts"
import { folder } from "../src/Files.ts"
import { serve } from "../src/Served.ts"

/** Refusals of each kind. */
const refusals = 10_000

const below256 = () => Math.floor(Math.random() * 256)

/** Welch's t; beyond 4.5 the test of leaks of ISO/IEC 17825 sees a difference. */
const welch = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const spread = (values: ReadonlyArray<number>) => {
    const middle = mean(values)
    return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length
  }
  return (mean(a) - mean(b)) / Math.sqrt(spread(a) + spread(b))
}

/** Leaves out the slowest tenth, which is what else the machine did. */
const trimmed = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b).slice(0, times.length * 0.9)

/** Nanoseconds from a request with a wrong key to the end of its refusal. */
const refusalTime = (agent: Agent, url: string, key: string) =>
  new Promise<number>((resolve, reject) => {
    const start = process.hrtime.bigint()
    // Each request comes from another address, since an address is slowed down after its first wrong keys.
    const from = `10.${below256()}.${below256()}.${below256()}`
    request(`${url}/contacts`, { agent, headers: { "X-Service-ApiKey": key, "X-Forwarded-For": from } }, (response) => {
      response.resume()
      response.on("end", () =>
        response.statusCode === 401
          ? resolve(Number(process.hrtime.bigint() - start))
          : reject(new Error(`a wrong key was answered with ${response.statusCode}`))
      )
    })
      .on("error", reject)
      .end()
  })

export const refusalBenchmark: Benchmark = {
  name: "refusal",
  title: "Refusing a wrong key",
  about:
    "Sends a key with a wrong first character and one with a wrong last character in random order over one " +
    "connection, 10,000 times each. Welch's t compares the response times; beyond 4.5, time would reveal how " +
    "much of a key is right (ISO/IEC 17825).",
  run: Effect.gen(function* () {
    const store = join(yield* folder, "store.db")
    const { url } = yield* serve(store, { arguments: ["--trusted-proxy", "127.0.0.1"] })
    const key = readFileSync(`${store}.key`, "utf8").trim()
    const other = (sign: string) => (sign === "a" ? "b" : "a")
    const wrong = {
      first: `${other(key[0] ?? "")}${key.slice(1)}`,
      last: `${key.slice(0, -1)}${other(key.at(-1) ?? "")}`
    }
    const times = { first: new Array<number>(), last: new Array<number>() }
    yield* Effect.promise(async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      while (times.first.length < refusals || times.last.length < refusals) {
        const kind = Math.random() < 0.5 ? "first" : "last"
        times[kind].push(await refusalTime(agent, url, wrong[kind]))
      }
      agent.destroy()
    })
    const t = welch(trimmed(times.first), trimmed(times.last))
    return {
      tables: [],
      claims: [{ what: "Welch's t of the two kinds of refusal", value: Math.abs(t), target: { atMost: 4.5 } }]
    }
  })
}
