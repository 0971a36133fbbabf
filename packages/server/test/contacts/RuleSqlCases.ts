/** A store to run rules on, and contacts and rules for it: nasty ones, and such as match each other. */
import { Rule, RuleFields } from "@roster/domain"
import { Arbitrary, DateTime, Effect, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, Statement } from "effect/sql"
import { DatabaseSync } from "node:sqlite"
import { migrate } from "../../src/store/Migrations.ts"
import { makeScans } from "../../src/contacts/RuleScan.ts"
import { ruleSql } from "../../src/contacts/RuleSql.ts"
import * as SqliteConnection from "../../src/store/sqlite/SqliteConnection.ts"
import * as SqliteStatements from "../../src/store/sqlite/SqliteStatements.ts"
import { registerRuleFunctions, sqliteRules } from "./SqliteRules.ts"

/** An empty store in memory, closed with the scope. */
export const openStore = Effect.gen(function* () {
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(":memory:", { enableDoubleQuotedStringLiterals: false })),
    (database) => Effect.sync(() => database.close())
  )
  registerRuleFunctions(database)
  const statements = SqliteStatements.make(database)
  const connection: SqlConnection.Connection = SqliteConnection.make(database, statements, {
    filename: ":memory:",
    busyTimeout: 0,
    executeStream: SqliteConnection.streamFrom(statements)
  })
  const sql = yield* SqlClient.make({
    acquirer: Effect.succeed(connection),
    compiler: Statement.makeCompilerSqlite(),
    driver: "sqlite-node",
    spanAttributes: []
  })
  yield* Effect.provideService(migrate, SqlClient.SqlClient, sql)
  return sql
}).pipe(Effect.provide(Reactivity.layer))

export interface Row {
  readonly email: string
  readonly status: string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly custom_fields: Readonly<Record<string, string>>
  readonly consent_ip: string | null
  readonly consent_date: number | null
  readonly consent_tracking: string | null
  readonly source: string
  readonly date_added: number
  readonly date_updated: number | null
  readonly status_change_date: number | null
  readonly total_sent: number
  readonly total_opened: number
  readonly total_clicked: number
  readonly total_failed: number
  readonly last_sent: number | null
  readonly last_opened: number | null
  readonly last_clicked: number | null
  readonly last_failed: number | null
  readonly last_ip: string | null
  readonly error_code: number | null
  readonly friendly_error_message: string | null
}

/** A contact of whom little is known. */
export const someone: Row = {
  email: "jo@example.com",
  status: "Active",
  first_name: null,
  last_name: null,
  custom_fields: {},
  consent_ip: null,
  consent_date: null,
  consent_tracking: null,
  source: "ContactApi",
  date_added: 1_700_000_000,
  date_updated: null,
  status_change_date: null,
  total_sent: 0,
  total_opened: 0,
  total_clicked: 0,
  total_failed: 0,
  last_sent: null,
  last_opened: null,
  last_clicked: null,
  last_failed: null,
  last_ip: null,
  error_code: null,
  friendly_error_message: null
}

export const insert = (sql: SqlClient.SqlClient, rows: ReadonlyArray<Row>) =>
  Effect.forEach(
    rows,
    (row, index) =>
      sql`INSERT INTO contacts ${sql.insert({
        ...row,
        custom_fields: JSON.stringify(row.custom_fields),
        account: "",
        identity: String(index)
      })}`
  )

/** The same contact as the evaluator sees it. */
export const subjectOf = (row: Row): RuleFields.RuleSubject => ({
  email: row.email,
  status: row.status,
  firstName: row.first_name,
  lastName: row.last_name,
  customFields: row.custom_fields,
  consent: { ip: row.consent_ip, date: dateOf(row.consent_date), tracking: row.consent_tracking },
  source: row.source,
  dateAdded: dateOf(row.date_added),
  dateUpdated: dateOf(row.date_updated),
  statusChangeDate: dateOf(row.status_change_date),
  activity: {
    totalSent: row.total_sent,
    totalOpened: row.total_opened,
    totalClicked: row.total_clicked,
    totalFailed: row.total_failed,
    lastSent: dateOf(row.last_sent),
    lastOpened: dateOf(row.last_opened),
    lastClicked: dateOf(row.last_clicked),
    lastFailed: dateOf(row.last_failed),
    lastIP: row.last_ip,
    errorCode: row.error_code,
    friendlyErrorMessage: row.friendly_error_message
  }
})

const dateOf = (seconds: number | null) => (seconds === null ? null : DateTime.makeUnsafe(seconds * 1000))

/** The places, in the order they were inserted, of the contacts that a rule selects by SQL. */
export const selected = (sql: SqlClient.SqlClient, rule: Rule.Rule, now: DateTime.Utc) =>
  Effect.map(
    sql`SELECT id - 1 FROM contacts WHERE ${ruleSql(sql, rule, now, sqliteRules(sql))} ORDER BY id`.values,
    (rows) => rows.map(([place]) => place)
  )

/** The same, by a scan. */
export const scanned = (sql: SqlClient.SqlClient, rule: Rule.Rule, now: DateTime.Utc) =>
  Effect.map(
    makeScans(sql).find({
      account: "",
      rule,
      now: DateTime.toEpochMillis(now),
      after: 0,
      offset: 0,
      limit: Number.POSITIVE_INFINITY
    }),
    (ids) => Array.from(ids, (id) => id - 1)
  )

export const now = DateTime.makeUnsafe("2024-06-01T12:00:00.250Z")

export const nasty = [
  "",
  " ",
  "'",
  "''",
  '"',
  "%",
  "_",
  "\\",
  "\\%",
  "a%b_c",
  "axbyc",
  "*",
  "?",
  "[a-z]",
  "' OR '1'='1",
  "'; DROP TABLE contacts; --",
  "/* */ --",
  "$1 ?1 :a @b",
  "\u0001\u001b\u007f",
  "a\r\nb",
  "😀",
  "\uffee",
  "e\u0301",
  "É",
  "İstanbul",
  "istanbul",
  "ISTANBUL",
  "ıstanbul",
  "i\u0307stanbul",
  "straße",
  "STRASSE",
  "Ångström",
  "A\u030aNGSTRO\u0308M",
  "\u212bngstr\u00f6m",
  "ΟΔΟΣ",
  "οδος",
  "οδοσ",
  "\u212a",
  "k",
  "0",
  "-0",
  "1",
  "1.0",
  "007",
  "1e3",
  "1000",
  "1.",
  "+1",
  " 1",
  "1e999",
  "1e-400",
  "0e9999",
  "123456789012345678901234567890",
  "９",
  "null",
  "2024-02-29",
  "2023-02-29",
  "2024-02-29T10:00Z",
  "2024-02-29t10:00:00.9999z",
  "2024-03-01T00:30:00+01:00",
  "1969-12-31T23:59:59.999Z",
  "0000-02-29",
  "0000-01-01T00:00+01:00",
  "9999-12-31",
  "2024-02-29T00:00:00.000Z",
  "ENGAGED",
  "jo@example.com"
]

const oneOf = <const A extends string | number>(values: ReadonlyArray<A>) => Arbitrary.schema(Schema.Literals(values))

// Mostly out of the list, so that contacts and rules meet.
const either = <A, B>(likely: Arbitrary.Arbitrary<A>, rare: Arbitrary.Arbitrary<B>) =>
  Arbitrary.flatMap(oneOf([0, 1, 2, 3]), (n): Arbitrary.Arbitrary<A | B> => (n === 0 ? rare : likely))

const anyText = Arbitrary.filter(Arbitrary.schema(Schema.String), (text) => text.isWellFormed() && !text.includes("\0"))
const text = either(oneOf(nasty), anyText)

// A part of a text, in another case and another composition.
const part = Arbitrary.map(
  Arbitrary.all([text, oneOf([0, 0, 1, 2]), oneOf([0, 0, 1, 3]), oneOf(["", "upper", "lower", "NFD"])]),
  ([text, start, end, form]) => {
    const points = [...text]
    const slice = points.slice(start, points.length - end).join("")
    return form === "upper"
      ? slice.toUpperCase()
      : form === "lower"
        ? slice.toLowerCase()
        : form
          ? slice.normalize(form)
          : slice
  }
)

const instants = [
  "2024-06-01T12:00:00Z",
  "2024-06-01T12:00:01Z",
  "2024-05-31T12:00:00Z",
  "2024-05-31T12:00:01Z",
  "2024-02-29T00:00:00Z",
  "2024-02-29T23:59:59Z",
  "2024-03-01T00:00:00Z",
  "2024-06-02T13:00:00Z",
  "1969-12-31T23:59:59Z",
  "1970-01-01T00:00:00Z",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z"
].map((text) => Date.parse(text) / 1000)
const seconds = either(
  oneOf(instants),
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1_700_000_000, maximum: 1_720_000_000 })))
)
const counts = [0, 1, 2, 7, 10, 1000, 2_147_483_647]
const maybe = <A>(value: Arbitrary.Arbitrary<A>) => either(value, Arbitrary.Constant(null))

const customNames = [
  "City",
  "city",
  "CITY",
  "İ",
  "i\u0307",
  "Größe",
  "GRÖSSE",
  "a.b",
  "x'",
  'x"',
  "__proto__",
  "1",
  "toString"
]

export const row: Arbitrary.Arbitrary<Row> = Arbitrary.all({
  email: text,
  status: oneOf(["Active", "Engaged", "NotConfirmed"]),
  first_name: maybe(text),
  last_name: maybe(text),
  custom_fields: Arbitrary.map(
    Arbitrary.array(Arbitrary.all([oneOf(customNames), text]), { maxLength: 6 }),
    (entries): Readonly<Record<string, string>> => Object.fromEntries(entries)
  ),
  consent_ip: maybe(text),
  consent_date: maybe(seconds),
  consent_tracking: maybe(oneOf(["Unknown", "Allow", "Deny"])),
  source: oneOf(["ContactApi", "WebForm"]),
  date_added: seconds,
  date_updated: maybe(seconds),
  status_change_date: maybe(seconds),
  total_sent: oneOf(counts),
  total_opened: oneOf(counts),
  total_clicked: oneOf(counts),
  total_failed: oneOf(counts),
  last_sent: maybe(seconds),
  last_opened: maybe(seconds),
  last_clicked: maybe(seconds),
  last_failed: maybe(seconds),
  last_ip: maybe(text),
  error_code: maybe(oneOf([-1, ...counts])),
  friendly_error_message: maybe(text)
})

const field = Arbitrary.flatMap(oneOf([0, 1, 2]), (n): Arbitrary.Arbitrary<Rule.Field> =>
  n === 0
    ? Arbitrary.map(oneOf(customNames), Rule.customField)
    : Arbitrary.map(oneOf(RuleFields.recordFieldNames), Rule.recordField)
)

const date = Arbitrary.map(
  Arbitrary.all([seconds, oneOf([0, 0, 1, 999]), oneOf(["day", "minute", "second", "millisecond"])]),
  ([seconds, millis, precision]) => {
    const unit = { day: 86_400_000, minute: 60_000, second: 1000, millisecond: 1 }[precision]
    return Rule.date({ start: Math.floor((seconds * 1000 + millis) / unit) * unit, precision })
  }
)
const number = Arbitrary.map(
  either(oneOf([...counts, -1, -0, 0.5, 1.5, 1e-7, Number.MAX_SAFE_INTEGER]), Arbitrary.schema(Schema.Finite)),
  Rule.number
)
const word = Arbitrary.map(oneOf(["Active", "Engaged", "Allow", "WebForm"]), Rule.word)
const value = Arbitrary.flatMap(oneOf([0, 1, 2, 3, 4, 5]), (n): Arbitrary.Arbitrary<Rule.Value> =>
  n < 3 ? Arbitrary.map(part, Rule.text) : n === 3 ? number : n === 4 ? date : word
)
const days = Arbitrary.schema(
  Schema.Union([
    Schema.Literals([-1, 0, 1, 2, 93]),
    Schema.Int.check(Schema.isBetween({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }))
  ])
)

// Every field with every operator and every literal: the tree allows more than the parser writes.
const leaf = Arbitrary.flatMap(oneOf([0, 1, 2, 3, 4, 5]), (n): Arbitrary.Arbitrary<Rule.Condition> =>
  n === 0
    ? Arbitrary.map(Arbitrary.all([field, oneOf(["02-29", "03-01", "12-31", "01-01", "06-01"])]), ([field, monthDay]) =>
        Rule.monthDay(field, monthDay)
      )
    : n === 1
      ? Arbitrary.map(Arbitrary.all([field, oneOf(Rule.comparisons), days]), ([field, operator, days]) =>
          Rule.daysFrom(field, operator, days)
        )
      : Arbitrary.map(
          Arbitrary.all([field, oneOf([...Rule.comparisons, ...Rule.textOperators]), value]),
          ([field, operator, value]) => Rule.compare(field, operator, value)
        )
)

const tree = (depth: number): Arbitrary.Arbitrary<Rule.Condition> =>
  depth === 0
    ? leaf
    : Arbitrary.flatMap(oneOf([0, 1, 2, 3]), (n) =>
        n < 2
          ? leaf
          : Arbitrary.map(
              Arbitrary.all([tree(depth - 1), Arbitrary.array(tree(depth - 1), { maxLength: 3 })]),
              ([first, rest]) => (n === 2 ? Rule.and : Rule.or)([first, ...rest])
            )
      )

export const rule = tree(3)
