/**
 * Sixteen clients of several processes that are killed, by way of a network that breaks: what they saw is compared with
 * what one register for each key would have shown them.
 */
import { assert } from "@effect/vitest"
import { Contact, ContactFilter, ContactsService, CredentialName, EmailAddress } from "@roster/domain"
import { JsonParser } from "@roster/domain/internal"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { awaitExport } from "@roster/workflows"
import { Deferred, Duration, Effect, Exit, Layer, Redacted, Schedule, Schema, Scope, Stream } from "effect"
import { faultProxy } from "../../faults/server/FaultProxy.ts"
import type { KillableServe } from "../KillableServe.ts"
import { longRun } from "../../../src/simulation/LongRun.ts"
import {
  type Account,
  expiryIn,
  makeRound,
  readingContacts,
  readingName,
  type Round,
  ruleOf,
  sharedEmails,
  sharedNames,
  someCall
} from "./HistoryCalls.ts"
import { makeHistory, type Outcome } from "./KeyHistory.ts"

const clients = 16

/** Of a piece of data between the clients and the processes. */
const faultRate = 0.02

/** How long the rounds go on. There is one at least. */
const minutes = Number(process.env["ROSTER_HISTORY_MINUTES"] ?? (longRun ? 2 : 0))

if (!(minutes >= 0)) throw new Error("ROSTER_HISTORY_MINUTES is not a number of minutes")

/** The timeout of a trial, in milliseconds: its last round can begin at the end of its time. */
export const historyTime = (minutes * 2 + 3) * 60_000

/** Each round begins with keys that nobody used before. */
const killsPerRound = minutes === 0 ? 2 : 8

/** The calls that succeed between two kills. */
const callsBetween = minutes === 0 ? { least: 40, more: 60 } : { least: 80, more: 200 }

/** The longest that the jobs of an account may take to their end once nothing breaks any more. */
const jobsEnd = "60 seconds"

/** How often a process is started that cannot reach its database yet. */
const restarting = { schedule: Schedule.spaced("200 millis"), times: 50 }

/** The processes of a trial, and what else can happen to them. */
export interface HistoryProcesses<E> {
  readonly count: number
  /** Starts a process. The scope kills it. */
  readonly start: Effect.Effect<KillableServe, E, Scope.Scope>
  /** Restarts the database, where it is a process of its own. */
  readonly restartDatabase?: Effect.Effect<void> | undefined
  /** Says whether the network between processes and database is to break, or to stay as it is. */
  readonly breakNetwork?: ((breaks: boolean) => void) | undefined
  /** Checks the store after a round. */
  readonly check?: (() => void) | undefined
}

/** What a trial did. It fails if a history has no explanation. */
export interface HistoryFigures extends Record<"read" | Outcome, number> {
  rounds: number
  kills: number
  restarts: number
  faults: number
}

const accountOf = Effect.fnUntraced(function* (name: string, baseUrl: string, apiKey: Redacted.Redacted<string>) {
  const http = yield* Layer.build(Layer.fresh(UndiciHttpClient.layer()))
  const make = (attempts: number) =>
    RosterClient.make({
      baseUrl,
      apiKey,
      retry: { attempts, base: Duration.millis(10), attemptTimeout: Duration.seconds(5) }
    }).pipe(Effect.provideContext(http))
  const account: Account = { name, once: yield* make(1), repeating: yield* make(4) }
  return account
})

const Exported = JsonParser.fromJsonString(Schema.Array(Contact))

/** Reads all keys of an account with an export, which has what was imported before. */
const readByExport = Effect.fnUntraced(function* (round: Round, { name, repeating: { contacts } }: Account) {
  const read = readingContacts(round, name, [...sharedEmails(round), ...(round.imported.get(name) ?? [])])
  const { id, link } = yield* contacts.export({
    fileFormat: "Json",
    filter: ContactFilter.ByRule({ rule: ruleOf(round) })
  })
  yield* awaitExport(id, { schedule: Schedule.spaced("20 millis"), limit: jobsEnd }).pipe(
    Effect.provideService(ContactsService, contacts)
  )
  const text = yield* Stream.mkString(Stream.decodeText(contacts.download(link)))
  read(yield* Schema.decodeEffect(Exported)(text))
  for (const one of round.exports) {
    if (one.account === name) assert.strictEqual(yield* contacts.exportStatus(one.id), "Ready", one.id)
  }
})

/** Reads the keys that clients share as one process shows them. */
const readShared = Effect.fnUntraced(function* (round: Round, { name, repeating: { contacts, credentials } }: Account) {
  const read = readingContacts(round, name)
  read(yield* contacts.list({ rule: ruleOf(round), limit: 1000 }))
  for (const given of sharedNames(round)) {
    const read = readingName(round, name, given)
    const found = yield* Effect.catchTag(credentials.apiKeys.get(given), "CredentialNotFound", () => Effect.undefined)
    read(expiryIn(found))
  }
})

const portOf = ({ baseUrl }: KillableServe): number => Number(new URL(baseUrl).port)

/** Runs rounds of calls, kills and restarts, and checks the history of each. */
export const historyTrial = Effect.fnUntraced(function* <E>(processes: HistoryProcesses<E>, random: () => number) {
  const scope = yield* Effect.scope
  const begin = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    // As whatever starts processes would: one that does not reach the database says so and ends.
    const serve = yield* Scope.provide(Effect.retry(processes.start, restarting), own)
    started.push(serve)
    return serve
  })
  const started: Array<KillableServe> = []
  // What they said tells why a history has no explanation.
  yield* Effect.addFinalizer((exit) =>
    Effect.sync(() => {
      if (Exit.isFailure(exit))
        for (const { output, pid } of started) process.stdout.write(`process ${pid}:\n${output()}\n`)
    })
  )
  const proxy = yield* faultProxy({ random, rate: faultRate })
  let running: ReadonlyArray<KillableServe> = yield* Effect.replicateEffect(begin, processes.count)
  const lead = Effect.suspend(() => (running.length === 0 ? proxy.refuse : proxy.leadTo(...running.map(portOf))))
  yield* lead
  const [first] = running
  if (first === undefined) return assert.fail("there are no processes")
  const ownKey = Redacted.make(first.apiKey)
  const subaccount = EmailAddress.make("subaccount@example.com")
  const direct = yield* accountOf("own", first.baseUrl, ownKey)
  const { token } = yield* direct.once.credentials.apiKeys.create({
    name: CredentialName.make("of the history"),
    accessLevels: ["ViewContacts", "ModifyContacts", "Export", "Security", "ModifyAccessTokens"],
    subaccount
  })
  const keys = [["own", ownKey] as const, ["sub", token] as const]
  const accounts = yield* Effect.forEach(Array.from({ length: clients }), (_, index) => {
    const [name, key] = keys[index % keys.length] ?? assert.fail("there are no accounts")
    return accountOf(name, `http://127.0.0.1:${proxy.port}/v4`, key)
  })
  const figures: HistoryFigures = { rounds: 0, kills: 0, restarts: 0, faults: 0, read: 0, ok: 0, unknown: 0, failed: 0 }

  const kill = Effect.gen(function* () {
    const victim = running[Math.floor(random() * running.length)] ?? assert.fail("nothing runs")
    victim.killNow()
    figures.kills++
    running = running.filter((one) => one !== victim)
    yield* victim.ended
    // Now its connections are broken off, now they are refused.
    if (random() < 0.5) yield* lead
    running = [...running, yield* begin]
    yield* lead
  })
  const restart = Effect.gen(function* () {
    if (processes.restartDatabase === undefined) return
    yield* processes.restartDatabase
    figures.restarts++
  })

  const run = Effect.fnUntraced(function* (round: Round) {
    const state = { isOver: false }
    let wanted = 0
    let reached = yield* Deferred.make<void>()
    const { outcomes } = round
    const succeeded = () => outcomes.ok + outcomes.read
    const calling = Effect.fnUntraced(function* (account: Account) {
      while (!state.isOver) {
        yield* someCall(round, account)
        if (succeeded() >= wanted) yield* Deferred.succeed(reached, undefined)
      }
    })
    const someCalls = Effect.gen(function* () {
      reached = yield* Deferred.make<void>()
      wanted = succeeded() + callsBetween.least + Math.floor(random() * callsBetween.more)
      yield* Deferred.await(reached)
    })
    const harm = Effect.gen(function* () {
      for (let kills = 0; kills < killsPerRound; kills++) {
        yield* someCalls
        yield* kills === Math.floor(killsPerRound / 2) ? Effect.all([restart, kill], { concurrency: 2 }) : kill
      }
      yield* someCalls
      state.isOver = true
    })
    yield* Effect.all([harm, ...accounts.map(calling)], { concurrency: "unbounded", discard: true })
  })

  /** Once nothing breaks any more, everything that was acknowledged has been done. */
  const settle = Effect.fnUntraced(function* (round: Round) {
    for (const end of round.imports) end()
    for (const [index, serve] of running.entries()) {
      for (const [name, key] of keys) {
        const account = yield* accountOf(name, serve.baseUrl, key)
        if (index === 0) yield* readByExport(round, account)
        yield* readShared(round, account)
      }
    }
  }, Effect.scoped)

  const end = performance.now() + minutes * 60_000
  do {
    const round = makeRound(
      `r${figures.rounds}`,
      makeHistory(() => performance.now()),
      random
    )
    processes.breakNetwork?.(true)
    yield* run(round)
    processes.breakNetwork?.(false)
    yield* settle(round)
    processes.check?.()
    figures.rounds++
    for (const outcome of ["read", "ok", "unknown", "failed"] as const) figures[outcome] += round.outcomes[outcome]
    assert.deepStrictEqual(round.history.issues(), [])
  } while (performance.now() < end)
  for (const serve of running) yield* serve.stop
  figures.faults = proxy.faults()
  return figures
})
