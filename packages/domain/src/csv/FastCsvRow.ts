/**
 * Fast path: copies the bytes of a simple CSV row into a contact or its JSON, for `addRows` and the imports of a
 * server. Other rows take the exact path through `importRow`; a property test holds the two equal.
 */
import type { ContactPayload } from "../contacts/Contact.ts"
import { isOwn, textFields } from "../contacts/ContactFields.ts"
import type { ImportColumns } from "./ContactColumns.ts"
import type { CsvRecord } from "./CsvRecord.ts"
import type { EmailAddress } from "../contacts/EmailAddress.ts"
import { encoded, type JsonBuffer } from "../values/JsonBuffer.ts"

interface Field {
  readonly column: number
  /** The name of a payload field or of a custom field. */
  readonly key: string
  /** The JSON text in front of the value, such as `,"FirstName":`. */
  readonly name: Uint8Array
}

const emailName = encoded(',"Email":')
const customFieldsName = encoded(',"CustomFields":')

/** The columns that are copied as they are, with the fields of their contact. A value in any other takes the exact path. */
const copied = new Map(
  textFields
    .filter((field) => isOwn(field) && field.wire !== "Email")
    .map(({ wire }) => [wire, wire.charAt(0).toLowerCase() + wire.slice(1)])
)

const at = 0x40
const dot = 0x2e
const hyphen = 0x2d
const apostrophe = 0x27

const alphanumeric = 1
const inDomain = 2
const inLocal = 3

/** Where each byte may stand in a simple address. A label cannot end with an underscore or hyphen. */
const addressBytes = new Uint8Array(128)
for (const byte of encoded("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
  addressBytes[byte] = alphanumeric
for (const byte of encoded("-_")) addressBytes[byte] = inDomain
for (const byte of encoded("!#$%&'*+/=?^`{|}~")) addressBytes[byte] = inLocal

/** Whether the bytes are a simple ASCII address: one that `EmailAddress` accepts and that IDNA does not change. */
const isPlainAddress = (bytes: Uint8Array, start: number, end: number): boolean => {
  if (end - start > 254) return false
  let place = start
  // The previous byte; the address counts as preceded by a dot.
  let last = dot
  for (; place < end; place++) {
    const byte = bytes[place] ?? 0
    if (byte === at) break
    if (byte === dot ? last === dot : byte > 127 || (addressBytes[byte] ?? 0) === 0) return false
    last = byte
  }
  if (last === dot || place - start > 64 || place >= end) return false
  last = dot
  for (place++; place < end; place++) {
    const byte = bytes[place] ?? 0
    if (byte > 127) return false
    const kind = addressBytes[byte] ?? 0
    if (kind !== alphanumeric) {
      if (byte === dot ? addressBytes[last] !== alphanumeric : kind !== inDomain || last === dot) return false
      // Two hyphens, as in xn--, may encode another domain.
      if (byte === hyphen && last === hyphen) return false
    }
    last = byte
  }
  return addressBytes[last] === alphanumeric
}

/** A number of cells that no row has. */
const never = -1

/** The columns of a file, prepared for the fast path. */
export class FastCsvColumns {
  readonly #count: number
  readonly email: number
  readonly profile: ReadonlyArray<Field>
  readonly custom: ReadonlyArray<Field>
  /** Columns whose values are more than text: a row with such a value takes the exact path. */
  readonly #others: ReadonlyArray<number>

  constructor({ targets }: ImportColumns, isPossible: boolean) {
    const record = new Map<string, number>(
      targets.flatMap((target, column) => (target._tag === "Record" ? [[target.field.wire, column] as const] : []))
    )
    const custom = targets.flatMap((target, column) =>
      target._tag === "Custom" ? [{ column, name: target.name }] : []
    )
    // A text without a name is a problem, and a word may stand for another.
    const checked = targets.flatMap((target, column) =>
      target._tag === "Unnamed" || (target._tag !== "LeftOut" && target.words !== undefined) ? [column] : []
    )
    // JavaScript reorders numeric keys and treats __proto__ specially; no store accepts NUL.
    const isUsual = custom.every(({ name }) => !/^\d+$/.test(name) && name !== "__proto__" && !name.includes("\0"))
    this.#count = isPossible && isUsual ? targets.length : never
    this.email = record.get("Email") ?? 0
    this.profile = Array.from(copied).flatMap(([name, key]) => {
      const column = record.get(name)
      return column === undefined ? [] : [{ column, key, name: encoded(`,"${name}":`) }]
    })
    this.custom = custom.map(({ column, name }) => ({ column, key: name, name: encoded(`,${JSON.stringify(name)}:`) }))
    const others = Array.from(record).flatMap(([name, column]) =>
      name === "Email" || copied.has(name) ? [] : [column]
    )
    this.#others = [...new Set([...others, ...checked])]
  }

  /** Whether the fast path gives the same result as the exact path for a record. */
  canHandle(record: CsvRecord): boolean {
    if (!record.isPlain || record.count !== this.#count) return false
    const { bytes } = record
    for (let cell = 0; cell < record.count; cell++) {
      // The apostrophe may protect a formula, and then the exact path removes it.
      if (bytes[record.begin(cell)] === apostrophe) return false
    }
    for (const column of this.#others) if (record.begin(column) < record.end(column)) return false
    return isPlainAddress(bytes, record.begin(this.email), record.end(this.email))
  }
}

/** The contact of a simple CSV row. It keeps the piece of the file that holds the row in memory. */
export class FastContact {
  readonly #columns: FastCsvColumns
  readonly #record: CsvRecord

  /** Makes the contact of a record that the columns can handle. */
  constructor(columns: FastCsvColumns, record: CsvRecord) {
    this.#columns = columns
    this.#record = record
  }

  /** The contact that `importRow` makes of the same cells. */
  get payload(): ContactPayload {
    const { custom, email, profile } = this.#columns
    const { cells } = this.#record
    const given = (fields: ReadonlyArray<Field>): Readonly<Record<string, string>> | undefined => {
      let values: Record<string, string> | undefined
      for (const { column, key } of fields) {
        const cell = cells[column]
        if (cell !== undefined && cell !== "") (values ??= {})[key] = cell
      }
      return values
    }
    const customFields = given(custom)
    return {
      // `canHandle` has checked it.
      email: (cells[email] ?? "") as EmailAddress,
      ...given(profile),
      ...(customFields === undefined ? {} : { customFields })
    }
  }

  /** Writes the address as `canonicalEmail` gives it, at most 254 bytes. Returns their number. */
  writeCanonicalEmail(to: Uint8Array): number {
    const { email } = this.#columns
    const { bytes } = this.#record
    const start = this.#record.begin(email)
    const length = this.#record.end(email) - start
    for (let i = 0; i < length; i++) {
      const byte = bytes[start + i] ?? 0
      to[i] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    }
    return length
  }

  /** Writes the JSON of the encoded contact. */
  writeJson(to: JsonBuffer): void {
    const { custom, email, profile } = this.#columns
    const { length } = to
    this.#write(to, emailName, email)
    for (const { column, name } of profile) this.#write(to, name, column)
    if (custom.some(({ column }) => this.#isGiven(column))) {
      to.bytes(customFieldsName)
      const start = to.length
      for (const { column, name } of custom) this.#write(to, name, column)
      to.object(start)
    }
    to.object(length)
  }

  #isGiven(column: number): boolean {
    return this.#record.begin(column) < this.#record.end(column)
  }

  #write(to: JsonBuffer, name: Uint8Array, column: number): void {
    const begin = this.#record.begin(column)
    const end = this.#record.end(column)
    if (begin === end) return
    to.bytes(name)
    to.stringBytes(this.#record.bytes, begin, end)
  }
}
