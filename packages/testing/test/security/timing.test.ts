/**
 * Whether the time of a refusal says how much of a key is right. A measurement, so on long runs alone.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Agent, request } from "node:http"
import { longRun } from "../../src/durability/LongRun.ts"
import { printSurvivors } from "../../src/faults/Survivors.ts"
import { Wire } from "../wire/Wire.ts"

const rounds = 10_000

const number = () => Math.floor(Math.random() * 1_000_000)

/** Welch's t, which beyond 4.5 is taken for a difference in the test of leaks (ISO/IEC 17825). */
const welch = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const spread = (values: ReadonlyArray<number>) => {
    const middle = mean(values)
    return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1) / values.length
  }
  return (mean(a) - mean(b)) / Math.sqrt(spread(a) + spread(b))
}

/** Without the slowest tenth: what the machine did besides. */
const trimmed = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b).slice(0, times.length * 0.9)

layer(Wire.layerWith(["--trusted-proxy", "127.0.0.1"]), { excludeTestServices: true, timeout: "60 seconds" })(
  "timing",
  (it) => {
    printSurvivors("S.1 timing")

    it.effect.skipIf(!longRun)(
      "S02 keys that are wrong in the first byte and in the last are refused in the same time",
      () =>
        Effect.gen(function* () {
          const { administratorKey, served } = yield* Wire
          const { hostname, pathname, port } = new URL(served.baseUrl)
          const path = `${pathname}/contacts`
          const flip = (sign: string) => (sign === "a" ? "b" : "a")
          const first = `${flip(administratorKey[0] ?? "")}${administratorKey.slice(1)}`
          const last = `${administratorKey.slice(0, -1)}${flip(administratorKey.at(-1) ?? "")}`
          const agent = new Agent({ keepAlive: true, maxSockets: 1 })
          const time = (key: string) =>
            Effect.callback<number>((resume) => {
              const start = process.hrtime.bigint()
              // Each from elsewhere, since nobody waits for the answer to his first wrong key.
              const elsewhere = `10.${number() % 256}.${number() % 256}.${number() % 256}`
              const headers = { "X-Service-ApiKey": key, "X-Forwarded-For": elsewhere }
              const sent = request({ agent, hostname, port, path, headers }, (response) => {
                response.resume()
                response.on("end", () => {
                  assert.strictEqual(response.statusCode, 401)
                  resume(Effect.succeed(Number(process.hrtime.bigint() - start)))
                })
              })
              sent.end()
            })
          const times = { first: new Array<number>(), last: new Array<number>() }
          while (times.first.length < rounds || times.last.length < rounds) {
            const [key, into] = Math.random() < 0.5 ? ([first, times.first] as const) : ([last, times.last] as const)
            into.push(yield* time(key))
          }
          agent.destroy()
          const t = welch(trimmed(times.first), trimmed(times.last))
          process.stdout.write(`t = ${t.toFixed(2)} over ${times.first.length} and ${times.last.length} refusals\n`)
          assert.isBelow(Math.abs(t), 4.5)
        }),
      1_200_000
    )
  }
)
