/** An ordinary client: gets contacts and adds one now and then, until it is told to stop, and says how long it waited. */
import { readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { setTimeout } from "node:timers/promises"
import { person, wirePayload } from "../src/Records.ts"
import { argument } from "../src/Trial.ts"

const url = new URL(argument("url"))
const key = readFileSync(argument("key-file"), "utf8").trim()
const known = Number(argument("known"))

const agent = new Agent({ keepAlive: true, maxSockets: 4 })

const send = (method: string, path: string, body?: string) =>
  new Promise<number>((resolve, reject) => {
    const headers = {
      "X-Service-ApiKey": key,
      ...(body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) })
    }
    request(url, { agent, method, path: `/v4${path}`, headers }, (response) => {
      response.resume()
      response.on("error", reject)
      response.on("end", () => resolve(response.statusCode ?? 0))
    })
      .on("error", reject)
      .end(body)
  })

const stopped = new AbortController()
let failures = 0

/** The time of each call until it has succeeded; one that fails is sent again, as our client does. */
const again = async (pause: number, call: (index: number) => Promise<number>) => {
  const times: Array<number> = []
  for (let index = 0; !stopped.signal.aborted; index++) {
    const start = performance.now()
    while ((await call(index).catch(() => 0)) !== 200) {
      failures++
      if (stopped.signal.aborted) break
      await setTimeout(10)
    }
    times.push(performance.now() - start)
    await setTimeout(pause)
  }
  return times.toSorted((one, other) => one - other)
}

const get = (index: number) => send("GET", `/contacts/${encodeURIComponent(person((index * 7919) % known).email)}`)
const post = (index: number) => send("POST", "/contacts", JSON.stringify([wirePayload(60_000_000 + (index % 1000))]))

// What the connections and the code cost at first is not what is measured.
for (let index = 0; index < 20; index++) await Promise.all([get(index), post(index)])
process.stdout.write("ready\n")
// Nothing goes on without the process that started it.
process.stdin.on("end", () => process.exit(1))
process.stdin.on("data", () => stopped.abort())
const [gets, posts] = await Promise.all([again(4, get), again(40, post)])
const at = (times: ReadonlyArray<number>, share: number): number => times[Math.ceil(times.length * share) - 1] ?? 0
process.stdout.write(
  `${JSON.stringify({ get: at(gets, 1), getP99: at(gets, 0.99), post: at(posts, 1), postP99: at(posts, 0.99), failures })}\n`
)
process.exit(0)
