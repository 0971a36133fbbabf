/** What it costs to record an import, to plan one, to apply the plan and to undo both, compared with the import alone. */
import { Console, Effect, Scope } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { type Benchmark, claimRatio, type Claim } from "../src/Benchmark.ts"
import { median, type Runs, valueOf } from "../src/Comparison.ts"
import { folder, roster } from "../src/Files.ts"
import { csvFile } from "../src/Records.ts"
import { serve } from "../src/Served.ts"
import { manyRows, rounds } from "../src/Settings.ts"
import type { Figure } from "../src/Trial.ts"
import { cpuOfEnded } from "../src/Usage.ts"
import { peakHook } from "../src/Variant.ts"

const alone = "import, nothing recorded"
const imported = "import"
const undoneImport = "undo of the import"
const planned = "plan of a change to every contact"
const applied = "apply of the plan"
const undoneApply = "undo of the apply"

/** The steps, in the order in which they are carried out. */
const steps = [alone, imported, undoneImport, planned, applied, undoneApply] as const
type Step = (typeof steps)[number]

/** Runs a command to its end. Looking at its memory costs nothing here: it is read once, at the exit. */
const measured = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>): Figure & { stdout: string } => {
  const before = { at: performance.now(), cpu: cpuOfEnded() }
  const { output, status } = spawnSync(process.execPath, ["--import", peakHook, roster, ...args, "--quiet"], {
    env: { ...process.env, XDG_STATE_HOME: "", ...env },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    maxBuffer: 1 << 26
  })
  if (status !== 0) throw new Error(`roster ${args.join(" ")} ended with ${status}: ${String(output?.[2])}`)
  return {
    units: manyRows,
    seconds: (performance.now() - before.at) / 1000,
    cpuSeconds: cpuOfEnded() - before.cpu,
    peakMiB: Number(output?.[3] ?? 0),
    stdout: String(output?.[1])
  }
}

/** One round: each step on what the step before has left. `connect` gives the way to an empty store. */
const round = (
  home: string,
  connect: (
    name: string
  ) => Effect.Effect<{ readonly flags: ReadonlyArray<string>; readonly env: Readonly<Record<string, string>> }>
) =>
  Effect.gen(function* () {
    const found = new Map<Step, Figure>()
    const step = Effect.fnUntraced(function* (
      name: Step,
      args: ReadonlyArray<string>,
      to: Effect.Success<ReturnType<typeof connect>>
    ) {
      const { stdout, ...figure } = measured(["contacts", ...args, ...to.flags], { HOME: home, ...to.env })
      found.set(name, figure)
      yield* Console.error(`  ${name}: ${figure.seconds.toFixed(2)} s, ${figure.peakMiB.toFixed(0)} MiB`)
      return stdout
    })
    const confirmed = ["--yes", "--confirm", String(manyRows)]
    const idOf = (stdout: string): string => String(Object(JSON.parse(stdout)).run)
    const plan = join(home, "plan.json")
    const first = yield* connect("first")
    yield* step(alone, ["import", csvFile(manyRows), "--no-record"], first)
    const second = yield* connect("second")
    const import_ = yield* step(imported, ["import", csvFile(manyRows)], second)
    yield* step(undoneImport, ["undo", idOf(import_), ...confirmed], second)
    yield* step(planned, ["import", csvFile(manyRows, "moved"), "--plan", plan], first)
    const apply = yield* step(applied, ["apply", plan], first)
    yield* step(undoneApply, ["undo", idOf(apply), ...confirmed], first)
    return found
  })

const few = Math.min(rounds, 3)

const runsOf = (found: ReadonlyArray<ReadonlyMap<Step, Figure>>): Runs<Step> =>
  // Every step is put in.
  Object.fromEntries(steps.map((name) => [name, found.flatMap((one) => one.get(name) ?? [])])) as unknown as Runs<Step>

const onStores = Effect.gen(function* () {
  const home = yield* folder
  return yield* round(home, (name) => Effect.succeed({ flags: ["--db", join(home, `${name}.db`)], env: {} }))
}).pipe(Effect.scoped)

const overHttp = Effect.gen(function* () {
  const home = yield* folder
  const scope = yield* Effect.scope
  return yield* round(home, (name) =>
    Effect.gen(function* () {
      const place = join(home, name)
      mkdirSync(place)
      const { headers, url } = yield* serve(join(place, "roster.db"))
      return { flags: [], env: { ROSTER_BASE_URL: url, ROSTER_API_KEY: headers["x-service-apikey"] ?? "" } }
    }).pipe(Effect.provideService(Scope.Scope, scope))
  )
}).pipe(Effect.scoped)

const claimsOf = (where: string, runs: Runs<Step>): ReadonlyArray<Claim> => [
  ...steps.slice(1).map((name) => claimRatio(`time of: ${name}, ${where}`, runs, "time", name, alone, { atMost: 2 })),
  {
    what: `peak memory of any step, ${where}`,
    value: Math.max(...steps.map((name) => median(runs[name].map((figure) => valueOf("memory", figure))))),
    target: { atMost: 350 },
    unit: "MiB"
  }
]

const run = Effect.gen(function* () {
  const local = runsOf(yield* Effect.replicateEffect(onStores, few))
  const remote = runsOf(yield* Effect.replicateEffect(overHttp, few))
  return {
    tables: [
      { title: "on a store file", unit: "row", reference: alone, runs: local },
      { title: "over HTTP", unit: "row", reference: alone, runs: remote }
    ],
    claims: [...claimsOf("on a store file", local), ...claimsOf("over HTTP", remote)]
  }
})

/** Recorded imports, plans, applies and undos. */
export const changesBenchmark: Benchmark = {
  name: "changes",
  title: "Imports that are recorded, planned, applied and undone",
  about:
    `Whole commands, one after another on the same stores: an import of ${manyRows} rows that records nothing ` +
    `(\`--no-record\`), the same import with its record, the undo of it, the plan of a file that changes a field ` +
    "of each of these contacts, the apply of that plan, and the undo of the apply. Over HTTP the service is " +
    `\`roster serve\` in another process; there a plan, an apply and an undo first read all contacts page by ` +
    "page.",
  run
}
