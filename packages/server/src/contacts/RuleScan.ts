/**
 * Evaluates rules on the contacts of a SQLite store: by key and in slices, so that nobody waits for the end of a scan. It
 * sees each contact as it is when its turn comes, and none twice, since ids ascend. (docs/decisions/rules.md)
 */
import { type FieldsInUse, makeFieldCount, Rule, ruleMatcher } from "@roster/domain"
import { DateTime, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { byEngine } from "../store/SqlDialect.ts"
import * as FairQueue from "../threads/FairQueue.ts"
import { beginSlice, monotonicMillis } from "../threads/Slices.ts"
import { contactColumns, toContact } from "./ContactRow.generated.ts"
import { columnOf } from "./RuleSql.ts"

/** Which contacts a rule selects. Plain data, which may go to another thread. */
export interface ScanRequest {
  readonly account: string
  readonly rule: Rule.Rule
  /** In milliseconds since 1970. */
  readonly now: number
}

/** What to look for. */
export interface FindRequest extends ScanRequest {
  /** Only contacts with a higher id. */
  readonly after: number
  /** The number of matching contacts to skip. */
  readonly offset: number
  /** The maximum number of contacts to find. */
  readonly limit: number
}

/** Which contacts to count the fields of. */
export interface FieldsRequest extends ScanRequest {
  /** How many milliseconds it may take. Then the rest is left out. */
  readonly millis: number
}

/** What is made of the contacts that a rule selects. */
export interface Scans {
  /** The ids, in ascending order. */
  readonly find: (request: FindRequest) => Effect.Effect<Float64Array<ArrayBuffer>, SqlError.SqlError>
  /** The number of contacts. */
  readonly count: (request: ScanRequest) => Effect.Effect<number, SqlError.SqlError>
  /** The fields that they have, of as many contacts as there is time for. */
  readonly fields: (request: FieldsRequest) => Effect.Effect<FieldsInUse, SqlError.SqlError>
}

/** The contacts that one statement reads: at most 0.8 MB, which a scan holds while it waits for its turn. */
const batchRows = 25

/** The same where each statement is a message to another process. */
const batchRowsOfServer = 250

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
export const makeScans = (sql: SqlClient.SqlClient): Scans => {
  const turns = FairQueue.make()
  const [index, rowsAtOnce] = byEngine<readonly [string, number]>(sql, {
    sqlite: () => ["INDEXED BY contacts_in_order", batchRows],
    postgres: () => ["", batchRowsOfServer]
  })

  /** Visits rows of the id and these columns, in ascending order, until a visit or the time between says it is enough. */
  const scan = (
    account: string,
    columns: string,
    visit: (row: ReadonlyArray<unknown>) => boolean,
    { from = 0, isLate = () => false }: { readonly from?: number; readonly isLate?: () => boolean } = {}
  ) =>
    turns.run(
      account,
      Effect.fnUntraced(function* (pause) {
        const [statement] = sql`SELECT id${sql.literal(columns)} FROM contacts ${sql.literal(index)}
          WHERE account = ${account} AND id > ${from} ORDER BY id LIMIT ${rowsAtOnce}`.compile()
        let after = from
        let isOver = yield* beginSlice()
        for (;;) {
          const rows = yield* sql.unsafe(statement, [account, after, rowsAtOnce]).values
          for (const row of rows) {
            if (isOver()) {
              yield* pause
              isOver = yield* beginSlice()
            }
            after = Number(row[0])
            if (visit(row)) return
          }
          if (rows.length < rowsAtOnce || isLate()) return
        }
      })
    )

  /** Visits the ids of the contacts that a rule selects. */
  const select = ({ account, now, rule }: ScanRequest, from: number, visit: (id: number) => boolean) => {
    const { columns, matches } = rowMatcher(rule, DateTime.makeUnsafe(now))
    return scan(account, columns, (row) => matches(row) && visit(Number(row[0])), { from })
  }

  return {
    find: (request) =>
      Effect.suspend(() => {
        const { after, limit, offset } = request
        const found: Array<number> = []
        let skipped = 0
        const visit = (id: number) => {
          if (skipped === offset) return found.push(id) === limit
          skipped++
          return false
        }
        return limit === 0
          ? Effect.succeed(new Float64Array())
          : Effect.map(select(request, after, visit), () => Float64Array.from(found))
      }),
    count: (request) =>
      Effect.suspend(() => {
        let count = 0
        const visit = () => {
          count++
          return false
        }
        return Effect.map(select(request, 0, visit), () => count)
      }),
    fields: ({ account, millis, now, rule }) =>
      Effect.suspend(() => {
        const matches = ruleMatcher(rule, DateTime.makeUnsafe(now))
        const counting = makeFieldCount()
        const visit = (row: ReadonlyArray<unknown>) => {
          const contact = toContact(row)
          if (matches(contact)) counting.add(contact)
          return false
        }
        let isCut = false
        let end: number | undefined
        const isLate = () => {
          end ??= monotonicMillis() + millis
          isCut = monotonicMillis() >= end
          return isCut
        }
        return Effect.map(scan(account, allColumns, visit, { isLate }), () => counting.result(!isCut))
      })
  }
}

/** Behind the id. */
const allColumns = contactColumns
  .slice(1)
  .map((column) => `, ${column}`)
  .join("")
