/** What docs/rules.md says that a rule selects, read from the JSON of a contact and without the evaluator. */
import type { Contact, Rule } from "@roster/domain"

/** Yes, no, or open, where a value cannot be compared. AND is the least of its terms, OR the greatest. */
export type Truth = 0 | 0.5 | 1

type Json = { readonly [name: string]: unknown }

const fold = (text: string): string => text.toLowerCase().normalize("NFC")

const day = 86_400_000

/** When a text begins that is a date as ISO, and how long it lasts. */
const spanOf = (text: string): { readonly from: number; readonly length: number } | undefined => {
  const date = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i.exec(text)
  if (date === null) return undefined
  const [, year, month, dayOfMonth, hour, minute, second, fraction, zone] = date
  const from = new Date(0)
  from.setUTCFullYear(Number(year), Number(month) - 1, Number(dayOfMonth))
  if (from.getUTCMonth() !== Number(month) - 1 || from.getUTCDate() !== Number(dayOfMonth)) return undefined
  if (hour === undefined) return { from: from.getTime(), length: day }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined
  const [sign, zoneHours, zoneMinutes] = [zone?.startsWith("-") ? -1 : 1, zone?.slice(1, 3), zone?.slice(4, 6)]
  const offset = sign * (Number(zoneHours || 0) * 60 + Number(zoneMinutes || 0))
  const minutes = Number(hour) * 60 + Number(minute) - offset
  const millis = Math.floor(Number(`0${fraction ?? ""}`) * 1000)
  return {
    from: from.getTime() + minutes * 60_000 + Number(second ?? 0) * 1000 + millis,
    length: fraction !== undefined ? 1 : second !== undefined ? 1000 : 60_000
  }
}

const numberOf = (value: string | number): number | undefined =>
  typeof value === "number" ? value : /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) ? Number(value) : undefined

/** The value of a field, of which the empty text is none. */
const valueOf = (field: Rule.Field, json: Json, now: number): string | number | undefined => {
  const { Activity, Consent, CustomFields, ...own } = json
  const values: Json = Object(
    field._tag === "CustomField" ? CustomFields : { ...own, ...Object(Consent), ...Object(Activity) }
  )
  const named = (name: string) => Object.entries(values).find(([other]) => fold(other) === fold(name))?.[1] ?? ""
  if (field._tag === "RecordField" && field.name === "contactage") {
    const added = spanOf(String(named("dateadded")))
    return added && Math.floor((now - added.from) / day)
  }
  const value = named(field.name)
  return value === "" ? undefined : typeof value === "number" ? value : String(value)
}

const isOrder = (operator: string): boolean => /[<>]/.test(operator)

const inOrder = (operator: string, order: number): boolean =>
  operator === "="
    ? order === 0
    : operator === "!="
      ? order !== 0
      : order === 0
        ? operator.endsWith("=")
        : operator.startsWith(order < 0 ? "<" : ">")

const inText = (operator: string, actual: string, literal: string): boolean => {
  switch (operator) {
    case "starts-with":
      return actual.startsWith(literal)
    case "ends-with":
      return actual.endsWith(literal)
    case "contains":
      return actual.includes(literal)
    case "not-contains":
      return !actual.includes(literal)
    default:
      return inOrder(operator, Buffer.compare(Buffer.from(actual), Buffer.from(literal)))
  }
}

/** An order with what a value is not: no, if the field has none, and open otherwise. The opposite of `=` holds for both. */
const uncompared = (operator: string, value: unknown): Truth =>
  isOrder(operator) && value !== undefined ? 0.5 : operator === "!=" ? 1 : 0

const truthOfLeaf = (leaf: Rule.Leaf, json: Json, now: number): Truth => {
  // Nobody here is on a list.
  if (leaf._tag === "OnList") return leaf.isOn ? 0 : 1
  const value = valueOf(leaf.field, json, now)
  const span = value === undefined ? undefined : spanOf(String(value))
  if (leaf._tag === "MonthDay") {
    if (span === undefined) return uncompared("<", value)
    return new Date(span.from).toISOString().includes(`-${leaf.monthDay}T`) ? 1 : 0
  }
  const { operator } = leaf
  if (leaf._tag === "DaysFrom") {
    if (span === undefined) return uncompared(operator, value)
    return inOrder(operator, Math.floor((now - span.from) / day) - leaf.days) ? 1 : 0
  }
  const literal = leaf.value
  if (literal._tag === "Number") {
    const number = value === undefined ? undefined : numberOf(value)
    return number === undefined ? uncompared(operator, value) : inOrder(operator, number - literal.number) ? 1 : 0
  }
  const lengths = { day, minute: 60_000, second: 1000, millisecond: 1 }
  const written = literal._tag === "Text" ? literal.text : literal._tag === "Word" ? literal.word : ""
  const meant =
    literal._tag === "Date"
      ? { from: literal.date.start, length: lengths[literal.date.precision] }
      : isOrder(operator)
        ? spanOf(written)
        : undefined
  if (meant !== undefined) {
    if (span === undefined) return uncompared(operator, value)
    const order = span.from < meant.from ? -1 : span.from < meant.from + meant.length ? 0 : 1
    return inOrder(operator, order) ? 1 : 0
  }
  if (value === undefined && isOrder(operator)) return 0
  return inText(operator, fold(String(value ?? "")), fold(written)) ? 1 : 0
}

/** What a rule says of a contact as JSON. */
export const truthOf = (rule: Rule.Rule, json: typeof Contact.Encoded, now: number): Truth => {
  switch (rule._tag) {
    case "All":
      return 1
    case "And":
    case "Or": {
      const least = rule._tag === "And" ? 1 : -1
      const [first = 0] = rule.terms.map((term) => truthOf(term, json, now)).sort((a, b) => least * (a - b))
      return first
    }
    default:
      return truthOfLeaf(rule, { ...json }, now)
  }
}
