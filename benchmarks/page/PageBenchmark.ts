import { Effect, type Scope } from "effect"
import { constants, copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Benchmark, claimRatio } from "../src/Benchmark.ts"
import { compare } from "../src/Comparison.ts"
import { runTrial } from "../src/Variant.ts"
import { ask, serve, type ServedStore, serveRoster } from "../service/ServedStore.ts"
import { built, folder } from "../src/Files.ts"

const few = 10_000
const many = 1_000_000

/** A store of so many contacts, made when it is not there yet. */
export const filledStore = Effect.fnUntraced(function* (contacts: number) {
  const file = join(built, "data", `store-${contacts}.db`)
  if (existsSync(file)) return file
  mkdirSync(dirname(file), { recursive: true })
  const store = `${file}.part`
  rmSync(store, { force: true })
  yield* runTrial(new URL("fill.ts", import.meta.url), { store, contacts })
  renameSync(store, file)
  return file
})

/** The service on a copy of it. */
const serveCopy = Effect.fnUntraced(function* (contacts: number) {
  const store = join(yield* folder, "store.db")
  copyFileSync(yield* filledStore(contacts), store, constants.COPYFILE_FICLONE)
  return yield* serveRoster(store)
})

/** Adds contacts that are not there yet, behind so many others of the same names. */
const adding = (served: ServedStore, known: number) => {
  let from = many
  return Effect.suspend(() => {
    const figure = ask(served, { call: "add", calls: 32, size: 1000, known, from })
    from += 32 * 1000
    return figure
  })
}

/** The server that `service` measures against, with so many contacts that it was given before. */
const serveReference = Effect.fnUntraced(function* (contacts: number) {
  const served = yield* serve(new URL("../service/raw.ts", import.meta.url), join(yield* folder, "store.db"))
  yield* ask(served, { call: "add", calls: contacts / 1000, size: 1000, known: 0, from: 0 })
  return served
})

/** A store that is added to, small and large. What is added makes the small one larger: it begins anew each round. */
const compareAdds = Effect.fnUntraced(function* (
  serveStore: (contacts: number) => Effect.Effect<ServedStore, never, Scope.Scope>,
  large: ServedStore
) {
  const anew = Effect.flatMap(serveStore(few), (served) => adding(served, few))
  return yield* compare([
    { name: "10^4 contacts" as const, run: Effect.scoped(anew) },
    { name: "10^6 contacts" as const, run: adding(large, many) }
  ])
})

const pages = 160

const run = Effect.gen(function* () {
  const small = yield* serveCopy(few)
  const large = yield* serveCopy(many)
  const page = <Name extends string>(name: Name, served: ServedStore, known: number, offset?: number) => ({
    name,
    run: ask(served, { call: "page", calls: pages, known, ...(offset === undefined ? {} : { offset }) })
  })
  const offsets = yield* compare([page("offset 0", large, many, 0), page("offset 999,000", large, many, many - 1000)])
  const sizes = yield* compare([page("10^4 contacts", small, few), page("10^6 contacts", large, many)])

  const adds = yield* compareAdds(serveCopy, large)
  const referenceAdds = yield* compareAdds(serveReference, yield* serveReference(many))
  return {
    tables: [
      { title: "GET 1000 of 10^6", unit: "page", reference: "offset 0", runs: offsets },
      { title: "GET 1000, from everywhere", unit: "page", reference: "10^4 contacts", runs: sizes },
      { title: "POST 1000", unit: "call", reference: "10^4 contacts", runs: adds },
      { title: "POST 1000 to node:http + node:sqlite", unit: "call", reference: "10^4 contacts", runs: referenceAdds }
    ],
    claims: [
      claimRatio("a page at offset 999,000, time of one at 0", offsets, "time", "offset 999,000", "offset 0", {
        atMost: 2
      }),
      claimRatio("a page of 10^6 contacts, CPU of one of 10^4", sizes, "cpu", "10^6 contacts", "10^4 contacts", {
        atMost: 1.3
      }),
      claimRatio("a page of 10^6 contacts, time of one of 10^4", sizes, "time", "10^6 contacts", "10^4 contacts", {
        atMost: 1.3
      }),
      claimRatio("a row added to 10^6, CPU of one added to 10^4", adds, "cpu", "10^6 contacts", "10^4 contacts", {
        atMost: 1.3
      }),
      claimRatio("a row added to 10^6, time of one added to 10^4", adds, "time", "10^6 contacts", "10^4 contacts", {
        atMost: 1.3
      })
    ],
    notes: [
      "Each added row has a random address, so in a large store every row of a request writes another page " +
        "of the index. The reference of `service` pays the same, as the last table shows."
    ]
  }
})

/** What a large store costs more than a small one. */
export const pageBenchmark: Benchmark = {
  name: "page",
  title: "Pages and adds in stores of 10,000 and of a million contacts",
  about:
    "The service answers over 32 connections, as in the benchmark `service`, on stores that it filled " +
    "itself. Addresses come in random order, so each added row goes to another place in the index. CPU and " +
    "memory are the service's.",
  run
}
