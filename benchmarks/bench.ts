/**
 * `pnpm bench` measures everything and writes `RESULTS.md`; `pnpm bench <name>...` some of it.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { bulkBenchmark } from "./bulk/BulkBenchmark.ts"
import { cliBenchmark } from "./cli/CliBenchmark.ts"
import { decodeBenchmark } from "./decode/DecodeBenchmark.ts"
import { exportBenchmark } from "./export/ExportBenchmark.ts"
import { getBenchmark } from "./get/GetBenchmark.ts"
import { importBenchmark } from "./import/ImportBenchmark.ts"
import { pageBenchmark } from "./page/PageBenchmark.ts"
import { holds, type Benchmark, type Outcome, print } from "./src/Benchmark.ts"
import { rounds } from "./src/Comparison.ts"
import { keepResults } from "./src/Results.ts"
import { serviceBenchmark } from "./service/ServiceBenchmark.ts"
import { streamBenchmark } from "./stream/StreamBenchmark.ts"

const benchmarks: ReadonlyArray<Benchmark> = [
  getBenchmark,
  decodeBenchmark,
  streamBenchmark,
  bulkBenchmark,
  serviceBenchmark,
  pageBenchmark,
  cliBenchmark,
  exportBenchmark,
  importBenchmark
]

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
