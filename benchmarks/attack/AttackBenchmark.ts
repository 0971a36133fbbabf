/** What others notice of an attack, and what it costs the service. */
import { Effect } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { copyFileSync, constants, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { type Benchmark, type Claim, holds } from "../src/Benchmark.ts"
import { bundle } from "../src/Bundle.ts"
import { folder, roster } from "../src/Files.ts"
import { ask, serve, type Served } from "../src/Served.ts"
import { attackSeconds, chosenAttacks } from "../src/Settings.ts"
import { filledStore } from "../page/PageBenchmark.ts"
import { databaseServer } from "../postgres/Server.ts"
import { allowedSender, type Attack, attacks, knownContacts, largeContacts } from "./attacks.ts"

/** What others may notice at most, in milliseconds, and what the service may hold, in MiB: 600 MB. */
const limits = { get: 250, post: 1000, peak: 572 }

interface Waits {
  readonly get: number
  readonly getP99: number
  readonly post: number
  readonly postP99: number
  readonly failures: number
}

interface Outcome extends Waits {
  readonly attack: Attack
  readonly peak: number
  readonly growth: number
  readonly answers: string
}

const bytesBelow = (path: string): number => {
  let sum = 0
  // Temporary files and folders may go meanwhile.
  const entries = existsSync(path) ? readdirSync(path, { withFileTypes: true }) : []
  for (const entry of entries) {
    const below = join(path, entry.name)
    sum += entry.isDirectory() ? bytesBelow(below) : (statSync(below, { throwIfNoEntry: false })?.size ?? 0)
  }
  return sum
}

interface Process {
  readonly child: ChildProcess
  /** The next line that it writes. */
  readonly line: () => Promise<string>
}

const start = (file: string, values: Readonly<Record<string, string | number>>): Process => {
  const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(process.execPath, [file, ...flags], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => {
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`${file} ended with ${child.exitCode}`)
    return value
  }
  return { child, line }
}

const tell = ({ child }: Process) => child.stdin?.write("go\n")

/** From now on the peak of a process is that of what it does from now on. */
const resetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, "5")

/** The weakest key for an attack: one for each level, since an account has few. */
const makeKeys = (served: Served) => {
  const keys = new Map<string, string>()
  return async ({ level }: Attack): Promise<string> => {
    if (level === undefined) return "none"
    const payload = { Name: `attacker ${level}`, AccessLevel: [level] }
    const key =
      keys.get(level) ??
      /"Token":"([^"]+)"/.exec(await ask(served, "POST", "/security/apikeys", JSON.stringify(payload)))?.[1] ??
      ""
    keys.set(level, key)
    return key
  }
}

/** Waits until the service has nothing left to do of the attack before. */
const untilIdle = async (served: Served) => {
  let before = served.cpu()
  for (let quiet = 0, waited = 0; quiet < 2 && waited < 600; waited++) {
    await setTimeout(500)
    const now = served.cpu()
    quiet = now - before < 0.05 ? quiet + 1 : 0
    before = now
  }
}

type Engine = "SQLite" | "PostgreSQL"

/** A new database with the contacts of a store. */
const filledDatabase = Effect.fnUntraced(function* (store: string) {
  const database = yield* (yield* databaseServer).fresh()
  execFileSync(process.execPath, [roster, "restore", store, "--yes"], {
    env: { ...process.env, ROSTER_DATABASE_URL: database },
    stdio: "ignore"
  })
  return database
})

const chosen = attacks.filter(({ name }) => chosenAttacks.some((text) => name.includes(text)))

const runOn = Effect.fnUntraced(function* (engine: Engine) {
  const path = yield* folder
  const store = join(path, "store.db")
  const temporary = join(path, "tmp")
  mkdirSync(temporary)
  copyFileSync(yield* filledStore(knownContacts), store, constants.COPYFILE_FICLONE)
  const served = yield* serve(store, {
    ...(engine === "SQLite" ? {} : { database: yield* filledDatabase(store) }),
    arguments: ["--allow-sender", allowedSender],
    env: { TMPDIR: temporary }
  })
  const bystander = yield* bundle(join(import.meta.dirname, "bystander.ts"))
  const attacker = yield* bundle(join(import.meta.dirname, "attacker.ts"))
  const url = new URL(served.url).origin
  const outcomes: Array<Outcome> = []

  const keyFor = makeKeys(served)
  const carryOut = async (attack: Attack) => {
    const key = await keyFor(attack)
    const attacking = start(attacker, { name: attack.name, url, key, seconds: attackSeconds })
    await attacking.line()
    await untilIdle(served)
    const other = start(bystander, { url, "key-file": `${store}.key`, known: knownContacts })
    await other.line()
    await setTimeout(500)
    const before = bytesBelow(path)
    resetPeak(served.pid)
    tell(attacking)
    const answers = await attacking.line()
    const growth = (bytesBelow(path) - before) / 2 ** 20
    // What was begun goes on for a while.
    await setTimeout(1000)
    tell(other)
    // What `bystander.ts` wrote.
    const waits = JSON.parse(await other.line()) as Waits
    const outcome = { attack, ...waits, peak: served.peakMiB(), growth, answers }
    process.stderr.write(`  ${row(outcome).join(" | ")}\n`)
    outcomes.push(outcome)
  }

  yield* Effect.promise(async () => {
    for (const from of [0, 250, 500, 750]) {
      await ask(served, "POST", "/contacts", largeContacts("x", from).toString())
    }
    for (const attack of chosen) await carryOut(attack)
  })
  return {
    tables: [],
    grids: [
      {
        head: ["attack", "GET ms", "p99", "POST ms", "p99", "failed", "peak MiB", "growth MiB", "allowed", "answers"],
        rows: outcomes.map(row)
      }
    ],
    claims: claimsOf(outcomes, engine)
  }
})

const row = ({ answers, attack, failures, get, getP99, growth, peak, post, postP99 }: Outcome) => [
  attack.name,
  ...[get, getP99, post, postP99, failures, peak, growth, attack.growthMiB].map((value) => String(Math.round(value))),
  answers.replaceAll(/[{}"]/g, "").replaceAll(",", ", ").replaceAll(":", " × ")
]

/** The worst of each figure, and each other that is beyond its limit. */
const claimsOf = (outcomes: ReadonlyArray<Outcome>, engine: Engine): ReadonlyArray<Claim> => {
  const kinds: ReadonlyArray<(outcome: Outcome) => Claim> = [
    ({ attack, get }) => ({
      what: `longest GET of others: ${attack.name}`,
      value: get,
      target: { atMost: limits.get },
      unit: "ms"
    }),
    ({ attack, post }) => ({
      what: `longest POST of others: ${attack.name}`,
      value: post,
      target: { atMost: limits.post },
      unit: "ms"
    }),
    ({ attack, peak }) => ({
      what: `peak memory: ${attack.name}`,
      value: peak,
      target: { atMost: limits.peak },
      unit: "MiB"
    }),
    // The files of a PostgreSQL are those of its vacuum and its settings.
    ...(engine === "PostgreSQL"
      ? []
      : [
          ({ attack, growth }: Outcome): Claim => ({
            what: `growth of the store, of what is allowed: ${attack.name}`,
            value: growth / attack.growthMiB,
            target: { atMost: 1 },
            unit: "×"
          })
        ])
  ]
  return kinds.flatMap((kind) => {
    const [worst, ...others] = outcomes.map(kind).toSorted((one, other) => other.value - one.value)
    return worst === undefined ? [] : [worst, ...others.filter((claim) => !holds(claim))]
  })
}

export const attackBenchmark: Benchmark = {
  name: "attack",
  title: "What others notice of an attack",
  about:
    "`roster serve` holds 100,000 contacts and 1000 of almost 32 KiB. An ordinary client gets single " +
    "contacts and adds one every 40 ms, while the holder of the weakest key that can do it carries out one " +
    "attack after another from another address, each for some seconds. The waits are the longest of the " +
    "ordinary client, those of failed calls until their success included; the peak is that of the service " +
    "during the attack, and the growth that of the folder with the store and the temporary files. The " +
    "command fails if a limit is broken. `ROSTER_ATTACK='page|delete'` chooses the attacks whose names hold " +
    "one of these texts, and `ROSTER_ATTACK_SECONDS` says how long each takes.",
  mustHold: true,
  run: runOn("SQLite")
}

export const attackPostgresBenchmark: Benchmark = {
  name: "attack-postgres",
  title: "What others notice of an attack on PostgreSQL",
  about:
    "The same with the contacts on a PostgreSQL of the same machine, which takes its part of the cores. The " +
    "growth is that of the temporary files.",
  mustHold: true,
  run: runOn("PostgreSQL")
}
