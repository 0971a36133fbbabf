/** Writes JSON as bytes into one reused buffer, without garbage. */
import type { DateTime } from "effect"
import { formatWireDate } from "./WireDate.ts"

const encoder = new TextEncoder()

/** Text that is written often, as bytes. */
export const encoded = (text: string): Uint8Array => encoder.encode(text)

const quote = 0x22
const backslash = 0x5c
const open = 0x7b
const close = 0x7d

/** Larger buffers are not reused. */
const largestKept = 1024 * 1024

/** Collects bytes of JSON; each method appends. */
export class JsonBuffer {
  #bytes: Uint8Array
  #length = 0
  readonly #quoted: (text: string) => string

  /** `quoted` writes a text that has more than letters, digits and the like as a JSON string (default: `JSON.stringify`). */
  constructor(memory = new Uint8Array(1024), quoted: (text: string) => string = JSON.stringify) {
    this.#bytes = memory
    this.#quoted = quoted
  }

  /** The number of bytes since the last `take`. */
  get length(): number {
    return this.#length
  }

  /** The bytes since the last `take`; the next write may overwrite them. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length)
    if (this.#bytes.length > largestKept) this.#bytes = new Uint8Array(1024)
    this.#length = 0
    return taken
  }

  /** Drops what a value left that could not be written to its end. */
  clear(): void {
    this.#length = 0
  }

  /** Writes bytes as they are. */
  bytes(from: Uint8Array): void {
    this.#reserve(from.length)
    const bytes = this.#bytes
    let at = this.#length
    // Faster than `set` for so few.
    for (let index = 0; index < from.length; index++) bytes[at++] = from[index] ?? 0
    this.#length = at
  }

  /** Writes bytes that need no escaping as a string. */
  stringBytes(from: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start + 2)
    const bytes = this.#bytes
    let at = this.#length
    bytes[at++] = quote
    for (let index = start; index < end; index++) bytes[at++] = from[index] ?? 0
    bytes[at++] = quote
    this.#length = at
  }

  /** Writes text as it is. */
  raw(text: string): void {
    this.#reserve(3 * text.length)
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written
  }

  number(value: number): void {
    const digits = String(value)
    this.#reserve(digits.length)
    for (let index = 0; index < digits.length; index++) this.#bytes[this.#length++] = digits.charCodeAt(index)
  }

  /** Writes a string. */
  string(text: string): void {
    this.#reserve(2 * text.length + 2)
    const bytes = this.#bytes
    let at = this.#length
    bytes[at++] = quote
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code >= 0x20 && code < 0x7f && code !== quote && code !== backslash) {
        bytes[at++] = code
      } else if (code >= 0xa0 && code < 0x600) {
        bytes[at++] = 0xc0 | (code >> 6)
        bytes[at++] = 0x80 | (code & 0x3f)
      } else {
        return this.raw(this.#quoted(text))
      }
    }
    bytes[at++] = quote
    this.#length = at
  }

  /** Makes an object of the fields since `start`, each of which begins with a comma. */
  object(start: number): void {
    this.#reserve(2)
    this.#bytes[start] = open
    if (this.#length === start) this.#length++
    this.#bytes[this.#length++] = close
  }

  #reserve(room: number): void {
    if (this.#bytes.length - this.#length >= room) return
    const larger = new Uint8Array(2 * this.#bytes.length + room)
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

// The fields of records: a name and a value, or nothing if the value is `undefined`.

/** The name of a field with the signs around it. */
export const fieldName = (text: string): Uint8Array => encoded(`,"${text}":`)

const signs = { null: encoded("null"), comma: encoded(","), colon: encoded(":") }

/** Writes a text field, if it has a value. */
export const writeText = (to: JsonBuffer, name: Uint8Array, value: string | undefined): void => {
  if (value === undefined) return
  to.bytes(name)
  to.string(value)
}

/** Writes a number field, or `null`, if it has a value. */
export const writeNumber = (to: JsonBuffer, name: Uint8Array, value: number | null | undefined): void => {
  if (value === undefined) return
  to.bytes(name)
  if (value === null) to.bytes(signs.null)
  else to.number(value)
}

/** Writes a date in the form of the wire, or `null`, if it has a value. */
export const writeDate = (to: JsonBuffer, name: Uint8Array, value: DateTime.Utc | null | undefined): void => {
  if (value === undefined) return
  to.bytes(name)
  if (value === null) to.bytes(signs.null)
  else to.string(formatWireDate(value))
}

/** Writes an object of texts by their names, if there is one. */
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
