import { Effect } from "effect"
import { type Benchmark, claimRatio } from "../src/Benchmark.ts"
import { compare } from "../src/Comparison.ts"
import { trial } from "../src/Variant.ts"

const pages = 600

const run = Effect.gen(function* () {
  const runs = yield* compare([
    {
      ...trial("JSON.parse alone", new URL("parse.ts", import.meta.url), { pages }),
      name: "JSON.parse alone" as const
    },
    { ...trial("contacts", new URL("contacts.ts", import.meta.url), { pages }), name: "contacts" as const }
  ])
  return {
    tables: [{ title: "pages of 1000 contacts", unit: "contact", reference: "JSON.parse alone", runs }],
    claims: [
      claimRatio("a page of 1000 contacts, time of JSON.parse alone", runs, "time", "contacts", "JSON.parse alone", {
        atMost: 1.25
      })
    ]
  }
})

/** What it costs to make contacts of text. */
export const decodeBenchmark: Benchmark = {
  name: "decode",
  title: "Decoding a page of 1000 contacts",
  about:
    "Turns the text of a page into an array of contacts: parsed, every field validated, keys renamed, four " +
    "dates parsed in each. The reference only parses the same text. Both are warmed up.",
  run
}
