/** The suite where contacts are in partitions by account, as whoever has very many can lay them out. (docs/scaling.md) */
import { describe } from "@effect/vitest"
import { SqlServices } from "@roster/server"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../../server/src/store/Migrations.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { testedStore } from "../../src/layers/ServiceLayers.ts"
import { longRun } from "../../src/simulation/LongRun.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const partitions = 8

/** Builds the empty table of contacts anew, in partitions, with its keys and triggers. */
const partition = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statements = (found: Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, unknown>) =>
    Effect.map(found, (rows) => rows.map(([statement]) => String(statement)))
  const indexes = yield* statements(sql`SELECT indexdef FROM pg_indexes WHERE tablename = 'contacts'`.values)
  const triggers = yield* statements(
    sql`SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'contacts'::regclass AND NOT tgisinternal`.values
  )
  const parts = Array.from(
    { length: partitions },
    (_, part) =>
      `CREATE TABLE contacts_${part} PARTITION OF contacts FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${part})`
  )
  for (const statement of [
    "ALTER TABLE contacts RENAME TO contacts_before",
    "ALTER SEQUENCE contacts_id_seq RENAME TO contacts_id_seq_before",
    "CREATE TABLE contacts (LIKE contacts_before INCLUDING DEFAULTS INCLUDING IDENTITY) PARTITION BY HASH (account)",
    ...parts,
    "DROP TABLE contacts_before CASCADE",
    ...indexes,
    ...triggers
  ])
    yield* sql.unsafe(statement)
})

const layer: Layer.Layer<SqlServices.Services, unknown> = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* freshDatabase
    yield* Effect.provide(Effect.andThen(migrate, partition), PostgresClient.layer({ url }))
    return SqlServices.layerPostgres({ postgres: { url }, ...testedStore })
  })
)

describePostgres("PostgreSQL with contacts in partitions", () => {
  describe.skipIf(!longRun)("(nightly)", () =>
    testConformance("SQL on partitions by account", conformance.all(), layer)
  )
})
