/**
 * Everything in which the databases differ, in one place.
 */
import type { SqlClient, Statement } from "effect/sql"

/**
 * @internal
 */
export interface SqlDialect {
  /** The type of a key that grows with every row and is never given twice. */
  readonly increasingId: string
  /** The type of bytes. */
  readonly bytes: string
  /** One set of custom fields over another, both as JSON. */
  readonly mergeFields: (below: Statement.Fragment, above: Statement.Fragment) => Statement.Fragment
  /** Whether a column holds one of many texts, bound as one parameter. */
  readonly isOneOf: (column: string, texts: ReadonlyArray<string>) => Statement.Fragment
}

const sqlite = (sql: SqlClient.SqlClient): SqlDialect => ({
  increasingId: "INTEGER PRIMARY KEY AUTOINCREMENT",
  bytes: "BLOB",
  mergeFields: (below, above) => sql`json_patch(${below}, ${above})`,
  isOneOf: (column, texts) => sql`${sql(column)} IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`
})

const postgres = (sql: SqlClient.SqlClient): SqlDialect => ({
  increasingId: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  bytes: "BYTEA",
  mergeFields: (below, above) => sql`(${below}::jsonb || ${above}::jsonb)::text`,
  isOneOf: (column, texts) =>
    sql`${sql(column)} = ANY (ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb)))`
})

/**
 * The dialect of a client.
 *
 * @internal
 */
export const dialect = (sql: SqlClient.SqlClient): SqlDialect =>
  sql.onDialectOrElse({ pg: () => postgres(sql), orElse: () => sqlite(sql) })
