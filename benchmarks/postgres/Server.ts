/** A PostgreSQL out of npm with its own settings but for its memory, and databases on it. Every commit is synced. */
import { Effect, type Scope } from "effect"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { setTimeout } from "node:timers/promises"
import { Client } from "pg"
import { startServer } from "../../packages/testing/test/postgres/PostgresServer.ts"
import { cpuOfFamily } from "../src/Usage.ts"

/** What whoever runs a PostgreSQL sets first: a cache that holds the tables, and checkpoints that are not all the time. */
const settings = ["shared_buffers=512MB", "max_wal_size=4GB", "checkpoint_timeout=15min", "max_connections=100"]

/** A folder on disk that every user can reach: that of temporary files may be in memory, where nothing is synced. */
const parent = existsSync("/var/tmp") ? "/var/tmp" : tmpdir()

export interface DatabaseServer {
  /** Makes a database, from another one where that is named, and gives its address. */
  readonly fresh: (from?: string) => Effect.Effect<string>
  readonly drop: (url: string) => Effect.Effect<void>
  /** CPU seconds of all its processes so far. */
  readonly cpu: () => number
}

/** Runs statements on a database, one after another. */
export const run = async (url: string, ...statements: ReadonlyArray<string>): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Waits for the newest job. Over HTTP nobody can ask about an import, so the database is looked at. */
export const untilReady = async (database: string, rows: number) => {
  const client = new Client({ connectionString: database })
  await client.connect()
  try {
    while (true) {
      const { rows: found } = await client.query<Readonly<Record<string, unknown>>>(
        "SELECT state, accepted, problem FROM jobs ORDER BY number DESC LIMIT 1"
      )
      const { accepted, problem, state } = found[0] ?? {}
      if (state === "Error") throw new Error(`the import failed: ${String(problem)}`)
      if (state === "Ready") {
        if (Number(accepted) !== rows) throw new Error(`${String(accepted)} rows were accepted, and not ${rows}`)
        return
      }
      await setTimeout(20)
    }
  } finally {
    await client.end()
  }
}

/** Starts the server, which ends with the scope. */
export const databaseServer: Effect.Effect<DatabaseServer, never, Scope.Scope> = Effect.gen(function* () {
  const { pid, url } = yield* Effect.acquireRelease(
    Effect.promise(() => startServer({ parent, settings })),
    ({ stop }) => Effect.promise(stop)
  )
  let databases = 0
  const nameOf = (address: string): string => new URL(address).pathname.slice(1)
  return {
    fresh: (from) =>
      Effect.promise(async () => {
        const name = `benchmark${databases++}`
        await run(
          url.href,
          `CREATE DATABASE ${name} TEMPLATE ${from === undefined ? "template0" : nameOf(from)}`,
          "CHECKPOINT"
        )
        const address = new URL(url)
        address.pathname = `/${name}`
        return address.href
      }),
    drop: (address) => Effect.promise(() => run(url.href, `DROP DATABASE ${nameOf(address)} WITH (FORCE)`)),
    cpu: () => cpuOfFamily(pid())
  }
})
