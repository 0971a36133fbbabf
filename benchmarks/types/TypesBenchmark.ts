import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { type Benchmark, claimRatio } from "../src/Benchmark.ts"
import { compare } from "../src/Comparison.ts"
import { command } from "../src/Variant.ts"

const pathOf = (place: string): string => fileURLToPath(new URL(place, import.meta.url))

const check = <Name extends string>(name: Name, folder: string) => ({
  ...command(name, [pathOf("../../node_modules/.bin/tsc"), "-p", pathOf(folder)], { starts: 3 }),
  name
})

const run = Effect.gen(function* () {
  const runs = yield* compare([check("Effect alone", "effect"), check("Roster", "roster")])
  return {
    tables: [{ title: "checks of 30 lines", unit: "check", reference: "Effect alone", runs }],
    claims: [
      claimRatio("`tsc` on a consumer of Roster, time of one of Effect alone", runs, "time", "Roster", "Effect alone", {
        atMost: 1.5
      })
    ]
  }
})

/** What the types of Roster cost those who use it. */
export const typesBenchmark: Benchmark = {
  name: "types",
  title: "Checking the types of a consumer",
  about:
    "Starts `tsc --noEmit` on a program of 30 lines that reads and adds contacts, against the declarations that are " +
    "published (`pnpm types` writes them). The reference does about the same with a schema and HTTP calls of its own.",
  run
}
