/**
 * Instants as they travel: `2024-01-02T03:04:05Z` is what is sent, since it is the one form that every official SDK
 * reads. Accepted are also offsets, fractions of up to nine digits, a space in place of the `T`, a date alone, and no
 * zone at all, which means UTC whatever zone the machine is in. Days that do not exist are refused.
 */
import { DateTime, Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$/

/**
 * Reads one instant, or gives `undefined` for a text that names none.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parseWireDate = (text: string): DateTime.Utc | undefined => {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const part = (index: number) => Number(match[index] ?? "0")
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  if (hour > 23 || minute > 59 || second > 59 || part(10) > 23 || part(11) > 59) return undefined
  const date = new Date(0)
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  date.setUTCHours(hour, minute, second, Number((match[7] ?? "0").slice(0, 3).padEnd(3, "0")))
  const offset = (part(10) * 60 + part(11)) * (match[9] === "-" ? -1 : 1)
  date.setTime(date.getTime() - offset * 60_000)
  // The offset may lead out of the years that can be written with four digits.
  if (date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) return undefined
  return DateTime.makeUnsafe(date.getTime())
}

/**
 * Writes an instant to the second.
 *
 * @category formatting
 * @since 0.1.0
 */
export const formatWireDate = (date: DateTime.Utc): string => DateTime.formatIso(date).replace(/\.\d+Z$/, "Z")

/**
 * The codec between the two.
 *
 * @category schemas
 * @since 0.1.0
 */
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
