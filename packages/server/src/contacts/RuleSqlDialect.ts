/** The SQL of rules, in expressions that PostgreSQL has. */
import { Rule } from "@roster/domain"
import type { Statement } from "effect/sql"

type Fragment = Statement.Fragment

/** The parts of a condition that databases write in their own way. */
export interface RuleSqlDialect {
  /** The folded form of a text, ordered by code points; the empty text for NULL. A column costs nothing to read again. */
  readonly fold: (text: Fragment, isColumn: boolean) => Fragment
  /** The value of a custom field, or NULL. */
  readonly customField: (name: string) => Fragment
  /** A text as a number, or NULL. */
  readonly number: (text: Fragment) => Fragment
  /** A text as a date in milliseconds since 1970, or NULL. */
  readonly instant: (text: Fragment) => Fragment
  /** The month and day of milliseconds since 1970, as `MM-dd`. */
  readonly monthDay: (instant: Fragment) => Fragment
  /** Milliseconds since 1970 as `2024-01-31T10:00:00.000Z`. */
  readonly isoDate: (instant: Fragment) => Fragment
  /** Whether a text begins with a literal without wildcards. */
  readonly startsWith: (text: Fragment, literal: string) => Fragment
  readonly endsWith: (text: Fragment, literal: string) => Fragment
  readonly contains: (text: Fragment, literal: string) => Fragment
}

// Year, month, day, hour, minute, second, fraction, then the sign, hours and minutes of the offset.
const datePattern =
  "^([0-9]{4})-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])(?:T([01][0-9]|2[0-3]):([0-5][0-9])" +
  "(?::([0-5][0-9])(?:[.]([0-9]{1,9}))?)?(?:Z|([+-])(0[0-9]|1[0-4]):([0-5][0-9]))?)?$"

/**
 * The collation `und-x-icu` folds as JavaScript does, whatever that of the database; "C" orders by code points. A text of
 * ASCII, which has a byte for each character, is folded without ICU, at a fraction of the cost.
 */
const folded = (sql: Statement.Constructor, text: Fragment): Fragment => sql`
  CASE WHEN octet_length(${text}) = char_length(${text}) THEN lower(${text} COLLATE "C")
    ELSE normalize(lower(${text} COLLATE "und-x-icu"), NFC) COLLATE "C" END`

// Results differ from the evaluator's if ICU and Node have different versions of Unicode, and for numbers of more than 4000
// characters. Each condition on a custom field reads the fields again: `RuleScans` bounds the time of a rule.
export const postgresRules = (sql: Statement.Constructor): RuleSqlDialect => ({
  fold: (text, isColumn) =>
    isColumn
      ? sql`(coalesce(${folded(sql, text)}, '') COLLATE "C")`
      : sql`(coalesce((SELECT ${folded(sql, sql`t`)} FROM (SELECT ${text} AS t OFFSET 0) AS texts), '') COLLATE "C")`,
  customField: (name) =>
    sql`(SELECT entry.value FROM json_each_text(${sql("custom_fields")}::json) WITH ORDINALITY AS entry (key, value, place)
      WHERE ${folded(sql, sql`entry.key`)} = ${Rule.foldText(name)}
      ORDER BY entry.key COLLATE "C" = ${name} DESC, entry.place LIMIT 1)`,
  // A numeric accepts any exponent of four digits, while a cast to double precision fails beyond 308.
  number: (text) =>
    sql`(SELECT CASE WHEN abs(exact) < 1.797693134862315808e308
      THEN CASE WHEN abs(exact) < 2.5e-324 THEN 0 ELSE exact::double precision END END
      FROM (SELECT CASE WHEN length(t) <= 4000 AND t ~ '^-?[0-9]+([.][0-9]+)?([eE][+-]?0*[0-9]{1,4})?$'
        THEN t::numeric END AS exact FROM (SELECT ${text} AS t OFFSET 0) AS texts OFFSET 0) AS numbers)`,
  // Parsed by hand, since an invalid cast fails. PostgreSQL has no year 0000; 0400 has the same calendar.
  instant: (text) =>
    sql`(SELECT CASE WHEN date_part('month', day) = part[2]::int
        AND millis BETWEEN -62167219200000 AND 253402300799999 THEN millis END
      FROM (SELECT part, day, (day - DATE '2370-01-01')::bigint * 86400000 + coalesce(part[4]::int, 0) * 3600000
          + coalesce(part[5]::int, 0) * 60000 + coalesce(part[6]::int, 0) * 1000
          + rpad(left(coalesce(part[7], ''), 3), 3, '0')::int - (coalesce(part[8], '+') || '1')::int
          * (coalesce(part[9]::int, 0) * 60 + coalesce(part[10]::int, 0)) * 60000 AS millis
        FROM (SELECT part, make_date(part[1]::int + 400, part[2]::int, 1) + (part[3]::int - 1) AS day
          FROM regexp_match(${text}, ${sql.literal(`'${datePattern}'`)}, 'i') AS matched (part)) AS days) AS instants)`,
  monthDay: (instant) => sql`to_char(to_timestamp(${instant} / 1000.0) AT TIME ZONE 'UTC', 'MM-DD')`,
  isoDate: (instant) =>
    sql`to_char(to_timestamp(${instant} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  startsWith: (text, literal) => sql`starts_with(${text}, ${literal})`,
  endsWith: (text, literal) => sql`right(${text}, ${[...literal].length}) = ${literal}`,
  contains: (text, literal) => sql`strpos(${text}, ${literal}) > 0`
})
