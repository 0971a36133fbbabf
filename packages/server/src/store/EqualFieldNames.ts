/**
 * A migration in code, frozen like those in SQL: the names of custom fields that rules took for one become one. The
 * contacts are read in batches of 1000 by their key, in the transaction of the migration, so that a kill leaves nothing
 * behind. On PostgreSQL nobody writes contacts meanwhile. (docs/decisions/records.md)
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { byEngine } from "./SqlDialect.ts"

const folded = (name: string): string => name.toLowerCase().normalize("NFC")

const longestName = 200

/** A free name: with `_2` at its end, or the next number. */
const numbered = (name: string, taken: ReadonlyMap<string, unknown>): string => {
  for (let number = 2; ; number++) {
    const end = `_${number}`
    // A name is not cut within a character.
    const free = name.slice(0, longestName - end.length).replace(/[\uD800-\uDBFF]$/, "") + end
    if (!taken.has(folded(free))) return free
  }
}

/** Fields without equal names: of equal values or an empty one only one stays, and the second of two others is renamed. */
const separated = (fields: Readonly<Record<string, string>>) => {
  const names = Object.keys(fields)
  const taken = new Map<string, string>()
  for (const name of names) if (!taken.has(folded(name))) taken.set(folded(name), name)
  if (taken.size === names.length) return undefined
  const values = new Map<string, string>()
  let renamed = 0
  for (const [name, value] of Object.entries(fields)) {
    const first = taken.get(folded(name)) ?? name
    const known = values.get(first)
    if (known === undefined || known === "") values.set(first, value)
    else if (value !== "" && value !== known) {
      const other = numbered(name, taken)
      taken.set(folded(other), other)
      values.set(other, value)
      renamed++
    }
  }
  return { fields: Object.fromEntries(values), joined: names.length - values.size, renamed }
}

interface Row {
  readonly account: string
  readonly id: number | string
  readonly custom_fields: string
}

const batch = 1000

/** Joins or renames the custom fields of every contact that have equal names. */
export const equalFieldNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { lock, written } = byEngine(sql, {
    sqlite: () => ({
      lock: Effect.void,
      written: (rows: string) => sql`(SELECT value ->> 'account' AS account, value ->> 'id' AS id,
        value ->> 'custom_fields' AS custom_fields FROM json_each(${rows})) AS given`
    }),
    postgres: () => ({
      lock: Effect.asVoid(sql`LOCK TABLE contacts IN SHARE ROW EXCLUSIVE MODE`),
      written: (rows: string) =>
        sql`json_to_recordset(${rows}::json) AS given (account text, id bigint, custom_fields text)`
    })
  })
  yield* lock
  const counts = { contacts: 0, joined: 0, renamed: 0 }
  let last: Pick<Row, "account" | "id"> | undefined = { account: "", id: 0 }
  while (last !== undefined) {
    const rows: ReadonlyArray<Row> = yield* sql<Row>`
      SELECT account, id, custom_fields FROM contacts WHERE (account, id) > (${last.account}, ${last.id})
      ORDER BY account, id LIMIT ${sql.literal(String(batch))}`
    const changed = rows.flatMap((row) => {
      // A store writes nothing but an object of texts.
      const result = separated(JSON.parse(row.custom_fields) as Record<string, string>)
      if (result === undefined) return []
      counts.contacts++
      counts.joined += result.joined
      counts.renamed += result.renamed
      return [{ ...row, custom_fields: JSON.stringify(result.fields) }]
    })
    if (changed.length > 0) {
      yield* sql`
        UPDATE contacts SET custom_fields = given.custom_fields FROM ${written(JSON.stringify(changed))}
        WHERE contacts.account = given.account AND contacts.id = given.id`
    }
    last = rows[batch - 1]
  }
  if (counts.contacts > 0) {
    yield* Effect.logInfo(
      "Custom fields whose names differ only in case or accents became one, or the second has a number now."
    ).pipe(Effect.annotateLogs(counts))
  }
})
