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
    "By a profile at 64 at once sending has 22 % of a call, the parser of undici 15 %, the collection of garbage 7 %, reading the JSON with the look at every field 9 %; all that the reference has too but for the look. Effect's run loop has about a quarter, spread over some two dozen steps of which none stands out: the asynchronous context that the suspended fiber keeps, the two values in its context, the counter, and the steps of the policy between.",
    "A quarter of the superagent client, or of axios where one call is made at a time, is less than undici alone takes."
  ]
  return { tables, claims, notes }
})

/** What a single call costs. */
export const getBenchmark: Benchmark = {
  name: "get",
  title: "Getting one contact",
  about:
    "Every client asks the same server, which answers from a process of its own with one record of 15 fields, over at most 16 connections that are kept alive. Roster's client validates the answer and has its retries, budget, timeouts and metrics as they are when nothing is set; with no tracer nobody would see a span, and none is made; the reference parses the JSON and looks at nothing.",
  run
}
