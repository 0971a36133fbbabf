/** JSON whose property names come from outside. It goes around a fault of `JSON.parse` with escaped names. */
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { endOfString } from "./JsonString.ts"

const colon = /\s*:/y

const isFollowedByColon = (text: string, end: number): boolean => {
  colon.lastIndex = end + 1
  return colon.test(text)
}

const renamed = (value: unknown, nameOf: (key: string) => string): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((inner) => renamed(inner, nameOf))
  // An assignment to `__proto__` would make no property.
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [nameOf(key), renamed(inner, nameOf)]))
}

/**
 * Parses JSON with arbitrary property names. `JSON.parse` of Node 24 and 26 may confuse escaped names (`5"` and `5\`),
 * so placeholders replace them until https://github.com/nodejs/node/issues/63785 is fixed.
 */
export const parse = (text: string): unknown => {
  if (!text.includes("\\")) return JSON.parse(text)
  // A one-byte character keeps the copy a one-byte string; a random number is added if the text contains it.
  // oxlint-disable-next-line eslint/no-restricted-properties -- nothing but this text sees it
  const mark = text.includes("\u007F") ? `\u007F${Math.random()} ` : "\u007F"
  const names: Array<string> = []
  // Objects of the same names get the same placeholders, which JSON.parse is fast with.
  const placeholders = new Map<string, number>()
  let plain = ""
  let taken = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) {
    const end = endOfString(text, at)
    if (end === -1) break
    const string = text.slice(at, end + 1)
    if (isFollowedByColon(text, end) && string.includes("\\")) {
      const name = String(JSON.parse(string))
      const placeholder = placeholders.get(name) ?? names.push(name) - 1
      placeholders.set(name, placeholder)
      plain += `${text.slice(taken, at)}"${mark}${placeholder}"`
      taken = end + 1
    }
    at = end
  }
  const parsed: unknown = JSON.parse(plain + text.slice(taken))
  if (names.length === 0) return parsed
  return renamed(parsed, (key) => (key.startsWith(mark) ? (names[Number(key.slice(mark.length))] ?? key) : key))
}

const Json = Schema.String.pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: SchemaGetter.transformEffect((text, options) =>
      Effect.try({
        try: () => parse(text),
        catch: () => new SchemaIssue.InvalidValue({ expected: "a valid JSON string" }, text, options)
      })
    ),
    encode: SchemaGetter.stringifyJson()
  })
)

/** Like `Schema.fromJsonString`, for values with arbitrary property names. */
export const fromJsonString = <S extends Schema.Constraint>(schema: S) => Json.pipe(Schema.decodeTo(schema))
