/**
 * PostgreSQL for tests: the server at `ROSTER_TEST_DATABASE_URL`, or one that npm installed and that all files of a run
 * share but those that crash it. Each test layer has a database of its own.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, beforeAll, describe } from "@effect/vitest"
import { SqlServices } from "@roster/server"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { readFileSync } from "node:fs"
import { inject } from "vitest"
import type { ServeProcessOptions } from "../../src/index.ts"
import { servedOn, testedStore } from "../../src/layers/ServiceLayers.ts"
import { type PostgresServer, startServer, testSettings } from "./PostgresServer.ts"
import type { Started } from "./SharedPostgres.ts"

const given = process.env["ROSTER_TEST_DATABASE_URL"]

const shared = async (): Promise<Started> => {
  const answer = await fetch(inject("postgres"))
  // The starter of the run answers nothing else.
  return (await answer.json()) as Started
}

const started: Started = given === undefined ? await shared() : { url: given }

/** The tests of a file that need PostgreSQL. Where none can be started, they are skipped, and their name says why. */
export const describePostgres = (name: string, tests: () => void): void => {
  if ("url" in started) describe(name, tests)
  else describe.skip(`${name} (${started.problem})`, tests)
}

/** The server that the tests of the present file crash. */
let own: PostgresServer | undefined

/** Gives the tests of a file a server of their own, which they may restart. */
export const startOwnPostgres = (): void => {
  if (given !== undefined || "problem" in started) return
  beforeAll(async () => {
    own = await startServer({ settings: testSettings(true) })
  })
  afterAll(async () => {
    await own?.stop()
    own = undefined
  })
}

/** Restarts a server of the file's own, in good order or as after a crash; `undefined` where the server is given. */
export const restartPostgres =
  given === undefined ? (crashed: boolean) => Effect.promise(async () => own?.restart(crashed)) : undefined

/** Tells all processes of a server (Linux). */
export const signalPostgres = (server: PostgresServer, signal: NodeJS.Signals): void => {
  const parent = server.pid()
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ").map(Number)
  for (const pid of [parent, ...children]) process.kill(pid, signal)
}

/** Stops all processes of the file's own server while an effect runs, as a machine that hangs does (Linux). */
export const whilePostgresStopped = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const tell = (signal: NodeJS.Signals) =>
    Effect.sync(() => {
      if (own !== undefined) signalPostgres(own, signal)
    })
  return Effect.acquireUseRelease(
    tell("SIGSTOP"),
    () => effect,
    () => tell("SIGCONT")
  )
}

/** Runs a statement, and gives its rows. */
export const runOn = (url: URL, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.makeClient({ url: Redacted.make(url.href) })
    return yield* sql.unsafe(statement)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

/** The address of a new database with options of `CREATE DATABASE`, which goes with the scope. */
export const databaseWith = Effect.fnUntraced(function* (options: string) {
  const running = own?.url ?? new URL("url" in started ? started.url : yield* Effect.die(new Error(started.problem)))
  const name = `roster_${crypto.randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(runOn(running, `CREATE DATABASE ${name} ${options}`), () =>
    Effect.ignore(runOn(running, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  )
  const url = new URL(running)
  url.pathname = `/${name}`
  return Redacted.make(url.href)
})

/** The address of a new database, which goes with the scope. */
export const freshDatabase = databaseWith("")

/** The services on a new database. */
export const layerPostgres: Layer.Layer<SqlServices.Services, unknown> = Layer.unwrap(
  Effect.map(freshDatabase, (url) => SqlServices.layerPostgres({ postgres: { url }, ...testedStore }))
)

/** The HTTP client in front of a server on a new database, over a real socket. */
export const layerServedPostgres = Layer.unwrap(Effect.map(freshDatabase, (url) => servedOn({ postgres: { url } })))

/** How `roster serve` is started on a new database. */
export const servedOnFresh = Effect.map(freshDatabase, (database): ServeProcessOptions => ({ database }))
