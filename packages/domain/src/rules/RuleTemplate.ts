/** Rules with values in them, which cannot change what the rule means. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { formatDate, parseDate } from "./RuleDate.ts"
import type { InvalidRule } from "./RuleError.ts"
import { invalidRule, quoteText, type Token, tokenize } from "./RuleLexer.ts"
import { RuleText } from "./RuleText.ts"

/** A value in a rule: a text, a finite number, or an instant. Booleans are texts in custom fields. */
export type RuleValue = string | number | Date | DateTime.DateTime

/** Whole seconds are written without a fraction, since contacts have dates to the second. */
const instant = (start: number): string | undefined => {
  if (Number.isNaN(new Date(start).getTime())) return undefined
  const text = formatDate({ start, precision: start % 1000 === 0 ? "second" : "millisecond" })
  return parseDate(text) && quoteText(text)
}

const literalOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return quoteText(value)
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : undefined
  if (value instanceof Date) return instant(value.getTime())
  return DateTime.isDateTime(value) ? instant(DateTime.toEpochMillis(value)) : undefined
}

const noValue = "this is not a value: a text, a finite number, or a date of the years 0 to 9999"
const noPlace = "a value cannot stand here: it is the whole value of a condition, and Roster quotes it"

/** Whether what follows a token is a field, whose name no value can be. */
const isBeforeField = ({ kind, text }: Token): boolean =>
  kind === "symbol" || (kind === "word" && ["and", "or", "daysfrom"].includes(text.toLowerCase()))

/**
 * A rule with values, such as `` rule`city = ${city} AND totalsent > ${count}` ``. Texts and dates are quoted, so that
 * no value can become another part of the rule; names of fields and operators cannot be values.
 */
export const rule = (
  parts: TemplateStringsArray,
  ...values: ReadonlyArray<RuleValue>
): Effect.Effect<RuleText, InvalidRule> =>
  Effect.suspend(() => {
    const places: Array<{ readonly position: number; readonly length: number }> = []
    let text = parts[0] ?? ""
    for (const [index, value] of values.entries()) {
      const literal = literalOf(value)
      const place = { position: text.length, length: literal?.length ?? 3 }
      if (literal === undefined) return Effect.fail(invalidRule(`${text}\${}`, place, noValue))
      places.push(place)
      text += `${literal}${parts[index + 1] ?? ""}`
    }
    return Effect.tap(
      RuleText.fromText(text),
      Effect.fnUntraced(function* () {
        const tokenAt = yield* Effect.fromResult(tokenize(text))
        const lengths = new Map<number, number>()
        let isField = true
        for (let index = 0, token = tokenAt(0); token !== undefined; token = tokenAt(++index)) {
          if (!isField) lengths.set(token.position, token.length)
          isField = isBeforeField(token)
        }
        const stray = places.find(({ length, position }) => lengths.get(position) !== length)
        if (stray !== undefined) return yield* invalidRule(text, stray, noPlace)
      })
    )
  })
