/** Looks whether a PostgreSQL can hold a store, for `roster doctor`: its version, rights, collation and clock. */
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { latestMigration } from "./Migrations.ts"
import { describe } from "./postgres/PostgresError.ts"
import { nameOf, type PostgresOptions } from "./postgres/PostgresParts.ts"

/** A property of the database that a service needs, with what is missing if it is not fulfilled. */
export interface PostgresFinding {
  readonly check: string
  readonly result: "ok" | "warning" | "failed"
  readonly detail: string
}

/** The oldest version with everything that the services use. */
export const oldestVersion = 14

/** With a larger difference keys and jobs expire at surprising times. */
const toleratedSkewSeconds = 5

interface Facts {
  readonly version: string
  readonly encoding: string
  readonly replica: boolean
  readonly writes: boolean
  readonly creates: boolean
  readonly folds: boolean
  readonly now: number
  readonly migrations: boolean
}

const findings = (facts: Facts, latest: number, millis: number): ReadonlyArray<PostgresFinding> => {
  const finding = (check: string, isOk: boolean, good: string, missing: string): PostgresFinding =>
    isOk ? { check, result: "ok", detail: good } : { check, result: "failed", detail: missing }
  const skew = Math.round(facts.now - millis / 1000)
  const isSkewed = Math.abs(skew) > toleratedSkewSeconds
  const direction = skew > 0 ? "behind" : "ahead of"
  return [
    finding(
      "version",
      Number.parseInt(facts.version) >= oldestVersion,
      `PostgreSQL ${facts.version}`,
      `PostgreSQL ${facts.version}: Roster needs ${oldestVersion} or newer`
    ),
    finding(
      "encoding",
      facts.encoding === "UTF8",
      "UTF8",
      `${facts.encoding}: create the database with ENCODING 'UTF8'`
    ),
    finding(
      "collation",
      facts.folds,
      "und-x-icu",
      "the collation und-x-icu is missing, which rules need: use a PostgreSQL with ICU"
    ),
    finding("writes", facts.writes, "allowed", "it is a replica or read-only: name the primary"),
    finding(
      "rights",
      facts.creates || latest === latestMigration,
      facts.creates ? "may create tables" : "may not create tables, and none is missing",
      "its user may not create tables: GRANT CREATE ON SCHEMA public TO that user"
    ),
    latest > latestMigration
      ? {
          check: "tables",
          result: "failed",
          detail: `at step ${latest}, and this version of Roster knows ${latestMigration}: use a newer one`
        }
      : {
          check: "tables",
          result: "ok",
          detail: latest === 0 ? "none yet" : `at step ${latest} of ${latestMigration}`
        },
    {
      check: "clock",
      result: isSkewed ? "warning" : "ok",
      detail: isSkewed
        ? `this machine is ${Math.abs(skew)} s ${direction} the database`
        : `within ${toleratedSkewSeconds} s of the database`
    }
  ]
}

const look = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [facts] = yield* sql<Facts>`
    SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
      NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writes,
      has_schema_privilege(current_user, 'public', 'CREATE') AS creates,
      EXISTS (SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu') AS folds,
      extract(epoch FROM clock_timestamp())::float8 AS now,
      to_regclass('migrations') IS NOT NULL AS migrations`
  if (facts === undefined) return []
  const [row] = facts.migrations
    ? yield* sql<{ readonly latest: number | null }>`SELECT max(migration_id) AS latest FROM migrations`
    : []
  return findings(facts, Number(row?.latest ?? 0), yield* Clock.currentTimeMillis)
})

/** Checks a database. Nothing is written to it. */
export const checkPostgres = (options: PostgresOptions): Effect.Effect<ReadonlyArray<PostgresFinding>> =>
  Effect.gen(function* () {
    const { layer } = yield* Effect.promise(() => import("./postgres/PostgresClient.ts"))
    const connection: PostgresFinding = { check: "database", result: "ok", detail: nameOf(options) }
    const found = yield* Effect.provide(look, Layer.fresh(layer(options)))
    return [connection, ...found]
  }).pipe(
    Effect.scoped,
    Effect.catch((error) => {
      const detail = `${nameOf(options)}: ${describe(error) ?? "it cannot be reached"}`
      return Effect.succeed<ReadonlyArray<PostgresFinding>>([{ check: "database", result: "failed", detail }])
    })
  )
