/** Writes the fields of records as JSON: a name and a value, or nothing if the value is `undefined`. */
import type { DateTime } from "effect"
import { encoded, type JsonBuffer } from "../values/JsonBuffer.ts"
import { formatWireDate } from "../values/WireDate.ts"

/** The name of a field with the signs around it. */
export const fieldName = (text: string): Uint8Array => encoded(`,"${text}":`)

const signs = { null: encoded("null"), comma: encoded(","), colon: encoded(":") }

export const writeText = (to: JsonBuffer, name: Uint8Array, value: string | undefined): void => {
  if (value === undefined) return
  to.bytes(name)
  to.string(value)
}

export const writeNumber = (to: JsonBuffer, name: Uint8Array, value: number | null | undefined): void => {
  if (value === undefined) return
  to.bytes(name)
  if (value === null) to.bytes(signs.null)
  else to.number(value)
}

export const writeDate = (to: JsonBuffer, name: Uint8Array, value: DateTime.Utc | null | undefined): void => {
  if (value === undefined) return
  to.bytes(name)
  if (value === null) to.bytes(signs.null)
  else to.string(formatWireDate(value))
}

export const writeTexts = (
  to: JsonBuffer,
  name: Uint8Array,
  texts: { readonly [name: string]: string } | undefined
): void => {
  if (texts === undefined) return
  to.bytes(name)
  const start = to.length
  for (const key in texts) {
    to.bytes(signs.comma)
    to.string(key)
    writeText(to, signs.colon, texts[key])
  }
  to.object(start)
}
