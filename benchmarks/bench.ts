/**
 * `pnpm bench` measures everything and writes `RESULTS.md`; `pnpm bench <name>...` some of it.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { holds, type Benchmark, type Outcome, print } from "./src/Benchmark.ts"
import { rounds } from "./src/Comparison.ts"
import { keepResults } from "./src/Results.ts"

const benchmarks: ReadonlyArray<Benchmark> = []

const names = process.argv.slice(2)
const unknown = names.filter((name) => benchmarks.every((benchmark) => benchmark.name !== name))
const chosen = names.length === 0 ? benchmarks : benchmarks.filter(({ name }) => names.includes(name))

const measure = Effect.fnUntraced(function* (benchmark: Benchmark) {
  yield* Console.error(`${benchmark.name}: ${benchmark.title}`)
  const outcome = yield* Effect.scoped(benchmark.run)
  yield* Console.log(`${print(benchmark, outcome)}\n`)
  return [benchmark, outcome] as const
})

const program = Effect.gen(function* () {
  if (unknown.length > 0) {
    yield* Console.error(`There is no benchmark ${unknown.join(", ")}. There are:`)
    for (const { name, title } of benchmarks) yield* Console.error(`  ${name}  ${title}`)
    return yield* Effect.sync(() => {
      process.exitCode = 2
    })
  }
  const found: Array<readonly [Benchmark, Outcome]> = []
  for (const benchmark of chosen) {
    found.push(yield* measure(benchmark))
    if (rounds >= 7) yield* keepResults(benchmarks, found)
  }
  const claims = found.flatMap(([, outcome]) => outcome.claims)
  yield* Console.log(`${claims.filter(holds).length} of ${claims.length} claims hold`)
})

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
