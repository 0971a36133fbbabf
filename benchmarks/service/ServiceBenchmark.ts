import { Effect } from "effect"
import { join } from "node:path"
import { type Benchmark, type Claim, claimRatio, type Table } from "../src/Benchmark.ts"
import { compare } from "../src/Comparison.ts"
import { folder } from "../src/Files.ts"
import { ask, serve, type ServedStore, serveRoster } from "./ServedStore.ts"

const raw = "node:http + node:sqlite"
const fastify = "fastify"
const own = "roster serve"
const keyed = "roster serve, with an Idempotency-Key"

interface Calls {
  /** How many contacts a call adds; 0 where it gets one. */
  readonly size: number
  readonly calls: number
}

const known = 10_000

const variant = <Name extends string>(name: Name, served: ServedStore, { calls, size }: Calls) => {
  const asked = (values: { readonly size: number; readonly calls: number; readonly from: number }) =>
    ask(served, { ...values, call: values.size === 0 ? "one" : "add", known, isKeyed: name === keyed })
  let from = known
  return {
    name,
    fill: asked({ size: 1000, calls: known / 1000, from: 0 }),
    run: Effect.suspend(() => {
      const figure = asked({ size, calls, from })
      from += size * calls
      return figure
    })
  }
}

const newStore = Effect.map(folder, (path) => join(path, "store.db"))
const start = (source: string) => Effect.flatMap(newStore, (store) => serve(new URL(source, import.meta.url), store))
const startRoster = Effect.flatMap(newStore, serveRoster)

const measure = Effect.fnUntraced(function* (calls: Calls) {
  const variants = [
    variant(raw, yield* start("raw.ts"), calls),
    variant(fastify, yield* start("fastify.ts"), calls),
    variant(own, yield* startRoster, calls),
    ...(calls.size === 0 ? [] : [variant(keyed, yield* startRoster, calls)])
  ]
  for (const { fill } of variants) yield* fill
  return yield* compare(variants)
}, Effect.scoped)

const run = Effect.gen(function* () {
  const tables: Array<Table> = []
  const claims: Array<Claim> = []
  for (const { calls, ofFastify, ofRaw, size, title } of [
    { title: "GET one", size: 0, calls: 24_000, ofRaw: 0.65, ofFastify: 0.8 },
    { title: "POST 100", size: 100, calls: 400, ofRaw: 0.85, ofFastify: 1 },
    { title: "POST 1000", size: 1000, calls: 64, ofRaw: 0.9, ofFastify: 1 }
  ]) {
    const runs = yield* measure({ size, calls })
    tables.push({ title, unit: "call", reference: raw, runs })
    claims.push(
      claimRatio(`${title}, calls/s of ${raw}`, runs, "rate", own, raw, { atLeast: ofRaw }),
      claimRatio(`${title}, calls/s of ${fastify}`, runs, "rate", own, fastify, { atLeast: ofFastify })
    )
  }
  const notes = [
    "In a profile of getting one contact, writing to the socket takes 39 % and SQLite 29 % (the key, then " +
      "the contact); the reference spends 78 % of its time on these. Node's HTTP takes a tenth, and the rest " +
      "of the service, Effect's run loop, context and server included, a fifth, no function more than 2 %.",
    "About 60 % of an add is SQLite: statements and commit. Roster's table has one more index, by the order " +
      "of adding, which costs 0.7 µs per row, and an add counts its new contacts in blocks, which makes the " +
      "last page of a list as fast as the first."
  ]
  return { tables, claims, notes }
})

/** What a call costs the service. */
export const serviceBenchmark: Benchmark = {
  name: "service",
  title: "Calls to the service",
  about:
    "Each server has its own process and store file; one load process writes requests over 32 connections " +
    "and counts the bytes of the answers. All servers look up the key by its digest, validate addresses, " +
    "merge into an existing contact, sync each transaction before answering, and answer with whole contacts. " +
    "Every added contact is new. CPU and memory are the server's. Roster's client sends an Idempotency-Key " +
    "with each add, so that the service stores the answer: the last line.",
  run
}
