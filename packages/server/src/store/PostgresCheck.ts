/** Checks whether a PostgreSQL can hold a store, for `roster doctor`: its version, encoding, rights and clock. */
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { lastMigration, latestMigration } from "./Migrations.ts"
import { keepsSessions, lostSessions } from "./postgres/KeptSessions.ts"
import { routeOf } from "./postgres/PostgresAddress.ts"
import { describe } from "./postgres/PostgresError.ts"
import { nameOf, type PostgresOptions } from "./postgres/PostgresOptions.ts"
import { skewIssue, storeClock, toleratedSkew } from "./StoreClock.ts"
import { tables } from "./StoreRows.ts"

/** A property of the database that a service needs, with what is missing if it is not fulfilled. */
export interface PostgresFinding {
  /** The name of the property, such as `version`. */
  readonly check: string
  /** Whether a service can work with it. */
  readonly result: "ok" | "warning" | "failed"
  /** What was found, and what to do about it. */
  readonly detail: string
}

/** The oldest version with everything that the services use. */
const oldestVersion = 14

interface Facts {
  readonly version: string
  readonly encoding: string
  readonly replica: boolean
  readonly writes: boolean
  /** The schema that tables are created in, if there is one. */
  readonly schema: string | null
  readonly creates: boolean
  /** The first table of the store that its user may not read or write. */
  readonly closed: string | null
  /** Whether its user may change the tables that there are. */
  readonly owns: boolean
  readonly plpgsql: boolean
  /** Whether commits wait for the disk. */
  readonly syncs: boolean
  readonly superuser: boolean
}

const rights = ({ closed, creates, owns, schema }: Facts, isComplete: boolean): PostgresFinding => {
  const failed = (detail: string): PostgresFinding => ({ check: "rights", result: "failed", detail })
  if (closed !== null) {
    const grant = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema ?? "public"} TO that user`
    return failed(`its user may not read and write the table ${closed}: ${grant}, or make it their owner`)
  }
  if (!isComplete && !owns) {
    return failed("its user may not change the tables, which are of an earlier version: upgrade them as their owner")
  }
  if (creates) return { check: "rights", result: "ok", detail: "may create tables" }
  if (isComplete) return { check: "rights", result: "ok", detail: "may not create tables, and none is missing" }
  return failed(
    schema === null
      ? "there is no schema for its tables: CREATE SCHEMA public AUTHORIZATION that user"
      : `its user may not create tables: GRANT CREATE ON SCHEMA ${schema} TO that user`
  )
}

const findings = (facts: Facts, latest: number, skew: number): ReadonlyArray<PostgresFinding> => {
  const finding = (check: string, isOk: boolean, good: string, missing: string): PostgresFinding =>
    isOk ? { check, result: "ok", detail: good } : { check, result: "failed", detail: missing }
  const skewed = skewIssue(skew)
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
      "extensions",
      facts.plpgsql,
      "plpgsql",
      "plpgsql is missing, which keeps the audit trail: CREATE EXTENSION plpgsql"
    ),
    { check: "sessions", result: "ok", detail: "kept" },
    finding("writes", facts.writes, "allowed", "it is a replica or read-only: name the primary"),
    rights(facts, latest === latestMigration),
    {
      check: "superuser",
      result: facts.superuser ? "warning" : "ok",
      detail: facts.superuser ? "its user may do everything: give the service one of its own" : "its user is none"
    },
    {
      check: "fsync",
      result: facts.syncs ? "ok" : "warning",
      detail: facts.syncs ? "on" : "off: what was acknowledged is lost with the machine"
    },
    finding(
      "tables",
      latest === 0 || latest === latestMigration,
      latest === 0 ? "none yet" : `at step ${latest}`,
      latest > latestMigration
        ? `at step ${latest}, and this version of Roster knows ${latestMigration}: use a newer one`
        : `at step ${latest}, of an earlier version, and this one uses ${latestMigration}: roster upgrade says what it rewrites`
    ),
    {
      check: "clock",
      result: skewed === undefined ? "ok" : "warning",
      detail: skewed ?? `within ${toleratedSkew} s of the database`
    }
  ]
}

const look = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* keepsSessions(sql))) {
    // What else is asked rests on sessions.
    const lost: PostgresFinding = { check: "sessions", result: "failed", detail: `a pooler ${lostSessions}` }
    return [lost]
  }
  const [facts] = yield* sql<Facts>`
    WITH found AS (
      SELECT oid, relname, relowner FROM pg_class
      WHERE ${sql.in("relname", [...tables.map(({ name }) => name), "account_locks", "overviews", "migrations"])}
        AND relnamespace = to_regnamespace(current_schema()) AND relkind = 'r'
    )
    SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
      NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writes,
      current_schema() AS schema, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates,
      (SELECT min(relname) FROM found WHERE NOT (
        has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')
      )) AS closed,
      NOT EXISTS (SELECT 1 FROM found WHERE NOT pg_has_role(relowner, 'USAGE')) AS owns,
      EXISTS (SELECT 1 FROM pg_language WHERE lanname = 'plpgsql') AS plpgsql,
      current_setting('fsync') = 'on' AS syncs,
      (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS superuser`
  if (facts === undefined) return []
  const latest = facts.closed === null ? yield* lastMigration : latestMigration
  return findings(facts, latest, yield* storeClock(sql).skew)
})

/** Checks a database. Nothing is written to it. */
export const checkPostgres = (options: PostgresOptions): Effect.Effect<ReadonlyArray<PostgresFinding>> =>
  Effect.gen(function* () {
    const { layer } = yield* Effect.promise(() => import("./postgres/PostgresClient.ts"))
    const connection: PostgresFinding = { check: "database", result: "ok", detail: nameOf(options) }
    const found = yield* Effect.provide(look, Layer.fresh(layer(options)))
    const route = Result.getOrThrow(routeOf(Redacted.value(options.url)))
    const tls: PostgresFinding = {
      check: "tls",
      result: route.warnings.length === 0 ? "ok" : "warning",
      detail: route.warnings.length === 0 ? route.privacy : route.warnings.join("; ")
    }
    return [connection, tls, ...found]
  }).pipe(
    Effect.scoped,
    Effect.catch((error) => {
      const detail = `${nameOf(options)}: ${describe(error) ?? "it cannot be reached"}`
      return Effect.succeed<ReadonlyArray<PostgresFinding>>([{ check: "database", result: "failed", detail }])
    })
  )
