/**
 * Instants on the wire: sent as `2024-01-02T03:04:05Z`; offsets, fractions and plain dates are also accepted, as databases and
 * frameworks print them: `2024-01-02 03:04:05.123456+00`, `2024-01-02 03:04:05 UTC`, `2024-01-02 03:04:05 +0000 UTC`.
 */
import { DateTime, Effect, Option, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { printPlain, readPlain } from "./FastWireDate.ts"

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?: ?(?:[Zz]|UTC|GMT)| ?([+-])(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?(?: UTC)?)?$/

/** Parses an instant; `undefined` for other texts and days that do not exist. */
export const parseWireDate = (text: string): DateTime.Utc | undefined => readPlain(text) ?? readAny(text)

const readAny = (text: string): DateTime.Utc | undefined => {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const part = (index: number) => Number(match[index] ?? "0")
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  if (hour > 23 || minute > 59 || second > 59 || part(9) > 23 || part(10) > 59 || part(11) > 59) return undefined
  const date = new Date(0)
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  date.setUTCHours(hour, minute, second, Number((match[7] ?? "0").slice(0, 3).padEnd(3, "0")))
  const offset = (part(9) * 3600 + part(10) * 60 + part(11)) * (match[8] === "-" ? -1 : 1)
  date.setTime(date.getTime() - offset * 1000)
  // The offset may lead out of the years of four digits.
  if (date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) return undefined
  return DateTime.makeUnsafe(date.getTime())
}

/** An instant as callers give it: as on the wire, a text without a zone is UTC, whatever the zone of the machine. */
export const givenInstant = (given: DateTime.DateTime.Input): DateTime.Utc | undefined =>
  typeof given === "string"
    ? parseWireDate(given)
    : Option.getOrUndefined(Option.map(DateTime.make(given), DateTime.toUtc))

/** Prints an instant to the second. */
export const formatWireDate = (date: DateTime.Utc): string =>
  printPlain(date) ?? DateTime.formatIso(date).replace(/\.\d+Z$/, "Z")

/** The schema of an instant: a text on the wire, a UTC `DateTime` in code. */
export const WireDate = Schema.String.annotate({ expected: "a date and time such as 2024-01-02T03:04:05Z" }).pipe(
  Schema.decodeTo(
    Schema.DateTimeUtc,
    SchemaTransformation.transformEffect({
      decode: (text, options) => {
        const date = parseWireDate(text)
        return date === undefined
          ? Effect.fail(
              new SchemaIssue.InvalidValue({ expected: "a date and time such as 2024-01-02T03:04:05Z" }, text, options)
            )
          : Effect.succeed(date)
      },
      encode: (date) => Effect.succeed(formatWireDate(date))
    })
  )
)

/** An instant that a caller gives. The wire has only the years 0 to 9999. */
export const GivenDate = WireDate.pipe(
  Schema.check(Schema.makeFilter((date) => printPlain(date) !== undefined || "expected a date of the years 0 to 9999"))
)
