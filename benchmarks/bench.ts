/** `pnpm bench` measures everything and writes `RESULTS.md`; `pnpm bench <name>...` some of it. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { attackBenchmark, attackPostgresBenchmark } from "./attack/AttackBenchmark.ts"
import { bulkBenchmark } from "./bulk/BulkBenchmark.ts"
import { changesBenchmark } from "./changes/ChangesBenchmark.ts"
import { cliBenchmark } from "./cli/CliBenchmark.ts"
import { decodeBenchmark } from "./decode/DecodeBenchmark.ts"
import { exportBenchmark } from "./export/ExportBenchmark.ts"
import { getBenchmark } from "./get/GetBenchmark.ts"
import { importBenchmark } from "./import/ImportBenchmark.ts"
import { postgresBenchmark } from "./postgres/PostgresBenchmark.ts"
import { pageBenchmark } from "./page/PageBenchmark.ts"
import { refusalBenchmark } from "./refusal/RefusalBenchmark.ts"
import { growthBenchmark } from "./growth/GrowthBenchmark.ts"
import { holds, type Benchmark, type Outcome, print } from "./src/Benchmark.ts"
import { keepResults } from "./src/Results.ts"
import { worthKeeping } from "./src/Settings.ts"
import { serviceBenchmark } from "./service/ServiceBenchmark.ts"
import { streamBenchmark } from "./stream/StreamBenchmark.ts"
import { studioBenchmark } from "./studio/StudioBenchmark.ts"
import { typesBenchmark } from "./types/TypesBenchmark.ts"

const benchmarks: ReadonlyArray<Benchmark> = [
  getBenchmark,
  decodeBenchmark,
  streamBenchmark,
  bulkBenchmark,
  serviceBenchmark,
  pageBenchmark,
  cliBenchmark,
  exportBenchmark,
  importBenchmark,
  postgresBenchmark,
  growthBenchmark,
  changesBenchmark,
  refusalBenchmark,
  typesBenchmark,
  studioBenchmark,
  attackBenchmark,
  attackPostgresBenchmark
]

const measure = Effect.fnUntraced(function* (benchmark: Benchmark) {
  yield* Console.error(`${benchmark.name}: ${benchmark.title}`)
  const outcome = yield* Effect.scoped(benchmark.run)
  yield* Console.log(`${print(benchmark, outcome)}\n`)
  return [benchmark, outcome] as const
})

const bench = Command.make(
  "bench",
  {
    chosen: Argument.ChoiceWithValue(
      "name",
      benchmarks.map((benchmark) => [benchmark.name, benchmark] as const)
    ).pipe(Argument.withDescription("What to measure; everything where none is named"), Argument.variadic())
  },
  Effect.fnUntraced(function* ({ chosen }) {
    const found: Array<readonly [Benchmark, Outcome]> = []
    for (const benchmark of chosen.length === 0 ? benchmarks : chosen) {
      found.push(yield* measure(benchmark))
      if (worthKeeping) yield* keepResults(benchmarks, found)
    }
    const claims = found.flatMap(([, outcome]) => outcome.claims)
    yield* Console.log(`${claims.filter(holds).length} of ${claims.length} claims hold`)
    const broken = found.flatMap(([{ mustHold }, outcome]) =>
      mustHold === true ? outcome.claims.filter((claim) => !holds(claim)) : []
    )
    for (const { what } of broken) yield* Console.error(`broken: ${what}`)
    if (broken.length > 0) process.exitCode = 1
  })
).pipe(
  Command.withDescription(
    [
      "What Roster costs, beside what it is measured against:",
      ...benchmarks.map(({ name, title }) => `  ${name}  ${title}`)
    ].join("\n")
  )
)

Command.run(bench, { version: "0.0.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
