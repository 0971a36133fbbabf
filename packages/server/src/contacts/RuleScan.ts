/**
 * Evaluates rules on the contacts of a store: by key and in slices, so that nobody waits for the end of a scan. It
 * sees each contact as it is when its turn comes, and none twice, since keys go in one direction. (docs/decisions/rules.md)
 */
import { makeFieldCount, Rule, ruleMatcher } from "@roster/domain"
import { ContactFields, makeRuleCount, rawFieldTest, type RuleFields } from "@roster/domain/internal"
import { DateTime, Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { byEngine, dialect } from "../store/SqlDialect.ts"
import * as FairQueue from "../threads/FairQueue.ts"
import { beginSlice, monotonicMillis } from "../threads/Slices.ts"
import { type ContactKey, contactsIn, inOrder, isBehind, type KeyOrder, orderOf } from "./ContactKeys.ts"
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
  /** The order (default: by id). */
  readonly order?: KeyOrder | undefined
  /** Only contacts behind this key. */
  readonly after: ContactKey
  /** The number of matching contacts to skip. */
  readonly offset: number
  /** The maximum number of contacts to find. */
  readonly limit: number
  /** How many contacts are read by address before all are read by id (default: 20,000). */
  readonly atFirst?: number | undefined
}

/** The contacts that were found. */
export interface Found {
  /** Their ids, in the order. */
  readonly ids: Float64Array<ArrayBuffer>
  /** The key of the last one; that behind which was looked, if there is none. */
  readonly last: ContactKey
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

/** Reads of each contact only what a rule names, and of one that it cannot select nothing. */
const rowReader = (rule: Rule.Rule) => {
  const names = new Set(Rule.fieldsOf(rule).map(columnOf))
  const lists = Rule.namesLists(rule)
  const places = contactColumns.flatMap((name, place) => (names.has(name) ? [place] : []))
  // Columns that are not read get some value that `toContact` takes.
  const row = contactColumns.map((name): unknown =>
    name === "custom_fields" ? "{}" : name === "date_added" ? 0 : null
  )
  const test = rawFieldTest(rule)
  const customFields = 1 + places.indexOf(contactColumns.indexOf("custom_fields"))
  return {
    columns: places.map((place) => `, ${contactColumns[place]}`).join("") + (lists ? listsColumn : ""),
    /** The contact of a row of the id and these columns, unless the rule surely leaves it out. */
    contactOf: (values: ReadonlyArray<unknown>): RuleFields.RuleSubject | undefined => {
      if (test?.(String(values[customFields])) === false) return undefined
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
  return {
    columns,
    matches: (values: ReadonlyArray<unknown>): boolean => {
      const contact = contactOf(values)
      return contact !== undefined && matches(contact)
    }
  }
}

/** How an engine reads the contacts of a scan. */
interface ScanReads {
  readonly rowsAtOnce: number
  /** How many scans have their turn: while one waits for another process, the next one may go on. */
  readonly atOnce: number
  readonly rowsOf: (statement: Statement.Statement<unknown>) => Statement.Statement<unknown>["values"]
}

/**
 * Contacts lie in the order of their ids, so a scan by address goes to another place for each and costs three times as much. A rule that
 * selects many has its page after these contacts; for any other one the rest is read by id, and those of the page are kept.
 */
const readByAddress = 20_000

/** Keeps so many contacts behind an address, those that come first in an order. */
const makeFirst = (order: KeyOrder, behind: ContactKey, count: number) => {
  const direction = order.isBackwards ? -1 : 1
  const compare = (one: ContactKey, other: ContactKey) =>
    Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other))) * direction
  let kept: Array<{ readonly id: number; readonly key: string }> = []
  const all = () => kept.sort((one, other) => compare(one.key, other.key)).slice(0, count)
  return {
    add: (id: number, key: string): void => {
      if (compare(key, behind) <= 0) return
      kept.push({ id, key })
      if (kept.length > 2 * count + 1000) kept = all()
    },
    all
  }
}

/** Scans between the other work of the thread, a slice at a time. */
export const makeScans = (sql: SqlClient.SqlClient) => {
  const { atOnce, rowsAtOnce, rowsOf } = byEngine<ScanReads>(sql, {
    sqlite: () => ({
      rowsAtOnce: batchRows,
      atOnce: 1,
      rowsOf: ({ values }) => values
    }),
    postgres: () => ({
      rowsAtOnce: batchRowsOfServer,
      atOnce: 2,
      // A plan that was prepared while the table was small reads all of it for each batch.
      rowsOf: ({ valuesUnprepared }) => valuesUnprepared
    })
  })
  const turns = FairQueue.make({ atOnce })

  /**
   * Visits rows of the id and these columns, and of the key if that is another one, in order, until a visit or the time between says
   * it is enough.
   */
  const scan = (
    { account, rule }: ScanRequest,
    columns: string,
    visit: (row: ReadonlyArray<unknown>, key: ContactKey) => boolean,
    {
      order = orderOf(),
      from = order.beginning,
      isLate = () => false
    }: { readonly order?: KeyOrder | undefined; readonly from?: ContactKey; readonly isLate?: () => boolean } = {}
  ) =>
    turns.run(
      account,
      Effect.fnUntraced(function* (pause) {
        const identities = identitiesOf(rule)
        const isById = order.column === "id"
        // With the plus no planner reads the account in order for a few addresses.
        const [table, condition, plus] =
          identities === undefined
            ? [contactsIn(sql, order), sql`account = ${account}`, ""]
            : [sql`contacts`, sql`account = ${account} AND ${dialect(sql).isOneOf("identity", [...identities])}`, "+"]
        const read = sql.literal(`id${columns}${isById ? "" : ", identity"}`)
        const sorted = sql.literal(`${isById ? plus : ""}${inOrder(order)}`)
        const [statement, parameters] = sql`SELECT ${read} FROM ${table}
          WHERE ${condition} AND ${isBehind(sql, order, from)} ORDER BY ${sorted} LIMIT ${rowsAtOnce}`.compile()
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
            after = isById ? Number(row[0]) : String(row.at(-1))
            if (visit(row, after)) return
          }
          if (rows.length < rowsAtOnce || isLate()) return
        }
      })
    )

  return {
    /** The contacts that a rule selects. */
    find: (request: FindRequest) =>
      Effect.suspend((): Effect.Effect<Found, SqlError.SqlError> => {
        const { after, atFirst = readByAddress, limit, now, offset, order, rule } = request
        if (limit === 0) return Effect.succeed({ ids: new Float64Array(), last: after })
        const { columns, matches } = rowMatcher(rule, DateTime.makeUnsafe(now))
        const ids: Array<number> = []
        let last = after
        let skipped = 0
        let left = order?.column === "identity" && identitiesOf(rule) === undefined ? atFirst : Infinity
        let reached: ContactKey | undefined
        const visit = (row: ReadonlyArray<unknown>, key: ContactKey) => {
          if (matches(row)) {
            if (skipped < offset) skipped++
            else {
              last = key
              if (ids.push(Number(row[0])) === limit) return true
            }
          }
          left -= 1
          if (left > 0) return false
          reached = key
          return true
        }
        const found = (): Found => ({ ids: Float64Array.from(ids), last })
        return Effect.flatMap(scan(request, columns, visit, { order, from: after }), () => {
          if (reached === undefined || order === undefined) return Effect.succeed(found())
          const first = makeFirst(order, reached, offset - skipped + limit - ids.length)
          const visitRest = (row: ReadonlyArray<unknown>) => {
            if (matches(row)) first.add(Number(row[0]), String(row.at(-1)))
            return false
          }
          return Effect.map(scan(request, `${columns}, identity`, visitRest), () => {
            for (const { id, key } of first.all().slice(offset - skipped)) {
              last = key
              ids.push(id)
            }
            return found()
          })
        })
      }),
    /** The number of contacts, and of those whose values the rule cannot compare. */
    count: (request: ScanRequest) =>
      Effect.suspend(() => {
        const { columns, contactOf } = rowReader(request.rule)
        const { add, result } = makeRuleCount(request.rule, DateTime.makeUnsafe(request.now))
        const visit = (row: ReadonlyArray<unknown>) => {
          const contact = contactOf(row)
          if (contact !== undefined) add(contact)
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
