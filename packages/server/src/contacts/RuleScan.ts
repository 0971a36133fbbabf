/**
 * Evaluates rules on the contacts of a store: by key and in slices, so that nobody waits for the end of a scan. It
 * sees each contact as it is when its turn comes, and none twice, since ids ascend. (docs/decisions/rules.md)
 */
import { makeFieldCount, Rule, ruleMatcher } from "@roster/domain"
import { ContactFields, makeRuleCount, type RuleFields } from "@roster/domain/internal"
import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { byEngine, dialect } from "../store/SqlDialect.ts"
import * as FairQueue from "../threads/FairQueue.ts"
import { beginSlice, monotonicMillis } from "../threads/Slices.ts"
import { contactColumns, listNamesIn, listsColumn, toContact, toSubject } from "./ContactRow.ts"
import { identitiesOf } from "./ContactSelection.ts"

/** Which contacts a rule selects. */
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
interface FieldsRequest extends ScanRequest {
  /** How many milliseconds it may take. Then the rest is left out. */
  readonly millis: number
}

/** The contacts that one statement reads: at most 0.8 MB, which a scan holds while it waits for its turn. */
const batchRows = 25

/** The contacts that one statement reads where each is a message to another process: at most 8 MB. */
const batchRowsOfServer = 250

// Only `contactage` has no column of its own.
const columns = new Map(ContactFields.allFields.map(({ column, wire }) => [wire.toLowerCase(), column])).set(
  "contactage",
  "date_added"
)

/** The column that a field is read from. */
const columnOf = ({ _tag, name }: Rule.Field): string =>
  _tag === "CustomField" ? "custom_fields" : (columns.get(name) ?? name)

/** Reads of each contact only what a rule names. */
const rowReader = (rule: Rule.Rule) => {
  const names = new Set(Rule.fieldsOf(rule).map(columnOf))
  const lists = Rule.namesLists(rule)
  const places = contactColumns.flatMap((name, place) => (names.has(name) ? [place] : []))
  // Columns that are not read get some value that `toContact` takes.
  const row = contactColumns.map((name): unknown =>
    name === "custom_fields" ? "{}" : name === "date_added" ? 0 : null
  )
  return {
    columns: places.map((place) => `, ${contactColumns[place]}`).join("") + (lists ? listsColumn : ""),
    /** The contact of a row of the id and these columns. */
    contactOf: (values: ReadonlyArray<unknown>): RuleFields.RuleSubject => {
      for (let i = 0; i < places.length; i++) row[places[i] ?? 0] = values[i + 1]
      const contact = toContact(row)
      return lists ? { ...contact, lists: listNamesIn(values[places.length + 1]) } : contact
    }
  }
}

/** Reads of each contact only what a rule names, and matches it. */
export const rowMatcher = (rule: Rule.Rule, now: DateTime.Utc) => {
  const { columns, contactOf } = rowReader(rule)
  const matches = ruleMatcher(rule, now)
  return { columns, matches: (values: ReadonlyArray<unknown>): boolean => matches(contactOf(values)) }
}

/** How an engine reads the contacts of a scan. */
interface ScanReads {
  readonly rowsAtOnce: number
  /** Contacts in order, by the index of that. */
  readonly inOrder: Statement.Fragment
  /** How many scans have their turn: while one waits for another process, the next one may go on. */
  readonly atOnce: number
  readonly rowsOf: (statement: Statement.Statement<unknown>) => Statement.Statement<unknown>["values"]
}

/** Scans between the other work of the thread, a slice at a time. */
export const makeScans = (sql: SqlClient.SqlClient) => {
  const { atOnce, inOrder, rowsAtOnce, rowsOf } = byEngine<ScanReads>(sql, {
    sqlite: () => ({
      rowsAtOnce: batchRows,
      inOrder: sql`contacts INDEXED BY contacts_in_order`,
      atOnce: 1,
      rowsOf: ({ values }) => values
    }),
    postgres: () => ({
      rowsAtOnce: batchRowsOfServer,
      inOrder: sql`contacts`,
      atOnce: 2,
      // A plan that was prepared while the table was small reads all of it for each batch.
      rowsOf: ({ valuesUnprepared }) => valuesUnprepared
    })
  })
  const turns = FairQueue.make({ atOnce })

  /** Visits rows of the id and these columns, in ascending order, until a visit or the time between says it is enough. */
  const scan = (
    { account, rule }: ScanRequest,
    columns: string,
    visit: (row: ReadonlyArray<unknown>) => boolean,
    { from = 0, isLate = () => false }: { readonly from?: number; readonly isLate?: () => boolean } = {}
  ) =>
    turns.run(
      account,
      Effect.fnUntraced(function* (pause) {
        const identities = identitiesOf(rule)
        // With the plus no planner reads the account in order for a few addresses.
        const [table, condition, order] =
          identities === undefined
            ? [inOrder, sql`account = ${account}`, "id"]
            : [sql`contacts`, sql`account = ${account} AND ${dialect(sql).isOneOf("identity", [...identities])}`, "+id"]
        const [statement, parameters] = sql`SELECT id${sql.literal(columns)} FROM ${table}
          WHERE ${condition} AND id > ${from} ORDER BY ${sql.literal(order)} LIMIT ${rowsAtOnce}`.compile()
        const which = parameters.slice(0, -2)
        let after = from
        let isOver = yield* beginSlice()
        for (;;) {
          const rows = yield* rowsOf(sql.unsafe(statement, [...which, after, rowsAtOnce]))
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
  const select = (request: ScanRequest, from: number, visit: (id: number) => boolean) => {
    const { columns, matches } = rowMatcher(request.rule, DateTime.makeUnsafe(request.now))
    return scan(request, columns, (row) => matches(row) && visit(Number(row[0])), { from })
  }

  return {
    /** The ids, in ascending order. */
    find: (request: FindRequest) =>
      Effect.suspend(() => {
        const { after, limit, offset } = request
        const ids: Array<number> = []
        let skipped = 0
        const visit = (id: number) => {
          if (skipped === offset) return ids.push(id) === limit
          skipped++
          return false
        }
        return limit === 0
          ? Effect.succeed(new Float64Array())
          : Effect.map(select(request, after, visit), () => Float64Array.from(ids))
      }),
    /** The number of contacts, and of those whose values the rule cannot compare. */
    count: (request: ScanRequest) =>
      Effect.suspend(() => {
        const { columns, contactOf } = rowReader(request.rule)
        const { add, result } = makeRuleCount(request.rule, DateTime.makeUnsafe(request.now))
        const visit = (row: ReadonlyArray<unknown>) => {
          add(contactOf(row))
          return false
        }
        return Effect.map(scan(request, columns, visit), result)
      }),
    /** The fields that they have, of as many contacts as there is time for. */
    fields: (request: FieldsRequest) =>
      Effect.suspend(() => {
        const { millis, now, rule } = request
        const matches = ruleMatcher(rule, DateTime.makeUnsafe(now))
        const counting = makeFieldCount()
        const visit = (row: ReadonlyArray<unknown>) => {
          const contact = toSubject(row)
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
        const lists = Rule.namesLists(rule) ? listsColumn : ""
        return Effect.map(scan(request, allColumns + lists, visit, { isLate }), () => counting.result(!isCut))
      })
  }
}

/** Behind the id. */
const allColumns = contactColumns
  .slice(1)
  .map((column) => `, ${column}`)
  .join("")
