/**
 * Evaluates rules on the contacts of a SQLite store: by key and in slices, so that nobody waits for the end of a scan. It
 * sees each contact as it is when its turn comes, and none twice, since ids ascend. (docs/decisions/rules.md)
 */
import { Rule, ruleMatcher } from "@roster/domain"
import { DateTime, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as FairQueue from "../threads/FairQueue.ts"
import { sliceMillis } from "../threads/Slices.ts"
import { contactColumns, toContact } from "./ContactRow.generated.ts"
import { columnOf } from "./RuleSql.ts"

/** What to look for. Plain data, which may go to another thread. */
export interface ScanRequest {
  readonly account: string
  readonly rule: Rule.Rule
  /** In milliseconds since 1970. */
  readonly now: number
  /** Only contacts with a higher id. */
  readonly after: number
  /** The number of matching contacts to skip. */
  readonly offset: number
  /** The maximum number of contacts to find. */
  readonly limit: number
}

/** Finds the ids of contacts, in ascending order. */
export type Scan = (request: ScanRequest) => Effect.Effect<Float64Array<ArrayBuffer>, SqlError.SqlError>

/** The contacts that one statement reads: at most 0.8 MB, which a scan holds while it waits for its turn. */
const batchRows = 25

/** Reads of each contact only what a rule names, and matches it. */
export const rowMatcher = (rule: Rule.Rule, now: DateTime.Utc) => {
  const names = new Set(Rule.fieldsOf(rule).map(columnOf))
  const places = contactColumns.flatMap((name, place) => (names.has(name) ? [place] : []))
  const matches = ruleMatcher(rule, now)
  // Columns that are not read get some value that `toContact` takes.
  const row = contactColumns.map((name): unknown =>
    name === "custom_fields" ? "{}" : name === "date_added" ? 0 : null
  )
  return {
    columns: places.map((place) => `, ${contactColumns[place]}`).join(""),
    /** For a row of the id and these columns. */
    matches: (values: ReadonlyArray<unknown>): boolean => {
      for (let i = 0; i < places.length; i++) row[places[i] ?? 0] = values[i + 1]
      return matches(toContact(row))
    }
  }
}

/** Scans on the thread of the caller, between its other work, a slice at a time. */
export const makeScan = (sql: SqlClient.SqlClient): Scan => {
  const turns = FairQueue.make()

  const scan = Effect.fnUntraced(function* (request: ScanRequest, pause: Effect.Effect<void>) {
    const { account, limit, now, offset, rule } = request
    const { columns, matches } = rowMatcher(rule, DateTime.makeUnsafe(now))
    const statement = `SELECT id${columns} FROM contacts INDEXED BY contacts_in_order
      WHERE account = ? AND id > ? ORDER BY id LIMIT ${batchRows}`
    const found: Array<number> = []
    let { after } = request
    let skipped = 0
    let sliceEnd = performance.now() + sliceMillis
    while (found.length < limit) {
      const rows = yield* sql.unsafe(statement, [account, after]).values
      for (const row of rows) {
        if (performance.now() > sliceEnd) {
          yield* pause
          sliceEnd = performance.now() + sliceMillis
        }
        after = Number(row[0])
        if (!matches(row)) continue
        if (skipped < offset) skipped++
        else if (found.push(after) === limit) break
      }
      if (rows.length < batchRows) break
    }
    return Float64Array.from(found)
  })

  return (request) => turns.run(request.account, (pause) => scan(request, pause))
}
