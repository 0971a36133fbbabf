import { Effect } from "effect"
import { type Benchmark, type Claim, claimRatio, type Table } from "../src/Benchmark.ts"
import { compare } from "../src/Comparison.ts"
import { server, trial } from "../src/Variant.ts"

const named = <Name extends string>(name: Name, file: string, values: Readonly<Record<string, string | number>>) => ({
  ...trial(name, new URL(file, import.meta.url), values),
  name
})

const run = Effect.gen(function* () {
  const { url } = yield* server(new URL("server.ts", import.meta.url))
  const tables: Array<Table> = []
  const claims: Array<Claim> = []
  for (const atOnce of [1, 16, 64]) {
    const values = { url: `${url}/v4`, "at-once": atOnce }
    const runs = yield* compare([
      named("undici.request + JSON.parse", "undici.ts", { ...values, calls: 12_000 }),
      named("ContactsService.get", "roster.ts", { ...values, calls: 12_000 }),
      named("official client, axios", "axios.ts", { ...values, calls: 4000 }),
      named("official client, superagent", "superagent.ts", { ...values, calls: 4000 })
    ])
    tables.push({ title: `${atOnce} at once`, unit: "call", reference: "undici.request + JSON.parse", runs })
    const claim = (reference: keyof typeof runs, atMost: number) =>
      claimRatio(`CPU of a call, ${atOnce} at once, of ${reference}`, runs, "cpu", "ContactsService.get", reference, {
        atMost
      })
    claims.push(
      claim("undici.request + JSON.parse", 1),
      claim("official client, axios", 0.25),
      claim("official client, superagent", 0.25)
    )
  }
  const notes = [
    "In a profile of 64 concurrent calls, sending takes 22 % of a call, undici's parser 15 %, parsing and " +
      "validating the JSON 9 % and garbage collection 7 %; the reference pays all of these except validation. " +
      "Effect's run loop takes about a quarter, spread over some two dozen steps, none of which stands out.",
    "A quarter of the time of the superagent client, or of axios with one call at a time, is less than undici alone takes."
  ]
  return { tables, claims, notes }
})

/** What a single call costs. */
export const getBenchmark: Benchmark = {
  name: "get",
  title: "Getting one contact",
  about:
    "All clients ask the same server, in another process, for one record of 15 fields over at most 16 " +
    "kept-alive connections. Roster's client validates the answer, with its default retries, budget, " +
    "timeouts and metrics, and without a tracer. The reference only parses the JSON.",
  run
}
