/**
 * The short way from a row of a file to a contact, or to its JSON: an ordinary row is looked at, and copied as bytes. What it
 * cannot be sure of it leaves to the long way, by `importRow` and the schema of a contact, which is the rule for both.
 */
import type { ContactPayload } from "../contacts/Contact.ts"
import type { ImportColumns } from "./ContactColumns.ts"
import type { CsvRecord } from "./CsvRecord.ts"
import type { EmailAddress } from "../values/EmailAddress.ts"

/** A contact whose bytes are known without a look at what they say. */
export interface PlainContact {
  /** Writes what `canonicalEmail` makes of the address, 254 bytes at most, and gives how many there are. */
  readonly writeIdentity: (to: Uint8Array) => number
  /** No more bytes than this are written of it. */
  readonly jsonLimit: number
  /** What `importRow` makes of its cells. */
  readonly payload: ContactPayload
  /** Writes what the interface takes for it, and gives the place behind. */
  readonly writeJson: (to: Uint8Array, at: number) => number
}

interface Field {
  readonly column: number
  /** The name of a field of the payload, or of a custom field. */
  readonly key: string
  /** What stands before the value where it is the first of its object, without the comma that it has elsewhere. */
  readonly name: Uint8Array
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const begin = encode(`{"Email":"`)
const beginCustom = encode(`"CustomFields":{`)
const nothing = new Uint8Array(0)

const at = 0x40
const dot = 0x2e
const hyphen = 0x2d
const apostrophe = 0x27
const quote = 0x22
const comma = 0x2c
const close = 0x7d

const alphanumeric = 1
const inDomain = 2
const inLocal = 3

/** Which bytes an ordinary address has, and where. An underscore or hyphen ends no label, so that it is no letter. */
const addressBytes = new Uint8Array(128)
for (const byte of encode("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
  addressBytes[byte] = alphanumeric
for (const byte of encode("-_")) addressBytes[byte] = inDomain
for (const byte of encode("!#$%&'*+/=?^`{|}~")) addressBytes[byte] = inLocal

/** Whether this is an address of plain ASCII: a part of what `EmailAddress` takes, none of which IDNA changes. */
const isPlainAddress = (bytes: Uint8Array, start: number, end: number): boolean => {
  if (end - start > 254) return false
  let place = start
  // The byte before, as if a dot stood in front.
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
      // As in xn--, behind which another domain stands.
      if (byte === hyphen && last === hyphen) return false
    }
    last = byte
  }
  return addressBytes[last] === alphanumeric
}

const copy = (from: Uint8Array, start: number, end: number, to: Uint8Array, place: number): number => {
  for (let i = start; i < end; i++) to[place++] = from[i] ?? 0
  return place
}

/** No row has so many cells. */
const never = -1

/** The header of a file, as far as the short way needs it. */
export class FastCsvColumns {
  readonly #count: number
  readonly #email: number
  readonly #profile: ReadonlyArray<Field>
  readonly #custom: ReadonlyArray<Field>
  /** Columns whose values are more than texts: a row that has one takes the long way. */
  readonly #others: ReadonlyArray<number>
  /** How many bytes are written besides those of the cells. */
  readonly #room: number

  constructor({ targets }: ImportColumns, isPossible: boolean) {
    const record = (...names: ReadonlyArray<string>): ReadonlyArray<Field> =>
      names.flatMap((name) => {
        const column = targets.findIndex((target) => target?._tag === "Record" && target.name === name)
        const key = name.charAt(0).toLowerCase() + name.slice(1)
        return column < 0 ? [] : [{ column, key, name: encode(`"${name}":"`) }]
      })
    const custom = targets.flatMap((target, column) =>
      target?._tag === "Custom" ? [{ column, name: target.name }] : []
    )
    // An object has these in an order of its own, or not as a field; or no store takes them.
    const isUsual = custom.every(({ name }) => !/^\d+$/.test(name) && name !== "__proto__" && !name.includes("\0"))
    this.#count = isPossible && isUsual ? targets.length : never
    this.#email = record("Email")[0]?.column ?? 0
    this.#profile = record("FirstName", "LastName")
    this.#custom = custom.map(({ column, name }) => ({ column, key: name, name: encode(`${JSON.stringify(name)}:"`) }))
    this.#others = record("Status", "ConsentIP", "ConsentDate", "ConsentTracking").map(({ column }) => column)
    const names = [...this.#profile, ...this.#custom].reduce((sum, { name }) => sum + name.length + 2, 0)
    this.#room = begin.length + beginCustom.length + names + 4
  }

  /** Whether a record can take the short way. */
  takes(record: CsvRecord): boolean {
    if (!record.isPlain || record.count !== this.#count) return false
    const { bytes } = record
    for (let cell = 0; cell < record.count; cell++) {
      // What was protected from a spreadsheet is restored.
      if (bytes[record.begin(cell)] === apostrophe) return false
    }
    for (const column of this.#others) if (record.begin(column) < record.end(column)) return false
    return isPlainAddress(bytes, record.begin(this.#email), record.end(this.#email))
  }

  jsonLimit(record: CsvRecord): number {
    return this.#room + record.end(record.count - 1) - record.start
  }

  writeIdentity(record: CsvRecord, to: Uint8Array): number {
    const { bytes } = record
    const start = record.begin(this.#email)
    const length = record.end(this.#email) - start
    for (let i = 0; i < length; i++) {
      const byte = bytes[start + i] ?? 0
      to[i] = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    }
    return length
  }

  payload(record: CsvRecord): ContactPayload {
    const { cells } = record
    const given = (fields: ReadonlyArray<Field>): Readonly<Record<string, string>> | undefined => {
      let values: Record<string, string> | undefined
      for (const { column, key } of fields) {
        const cell = cells[column]
        if (cell !== undefined && cell !== "") (values ??= {})[key] = cell
      }
      return values
    }
    const customFields = given(this.#custom)
    return {
      // What `takes` has looked at.
      email: (cells[this.#email] ?? "") as EmailAddress,
      ...given(this.#profile),
      ...(customFields === undefined ? {} : { customFields })
    }
  }

  writeJson(record: CsvRecord, to: Uint8Array, at: number): number {
    let place = copy(begin, 0, begin.length, to, at)
    place = copy(record.bytes, record.begin(this.#email), record.end(this.#email), to, place)
    to[place++] = quote
    for (const field of this.#profile) place = writeField(record, field, nothing, to, place)
    let before = beginCustom
    for (const field of this.#custom) {
      const end = writeField(record, field, before, to, place)
      if (end > place) before = nothing
      place = end
    }
    if (before === nothing) to[place++] = close
    to[place++] = close
    return place
  }
}

/** Writes a field that has a value, and what goes before it. */
const writeField = (
  record: CsvRecord,
  { column, name }: Field,
  before: Uint8Array,
  to: Uint8Array,
  at: number
): number => {
  const start = record.begin(column)
  const end = record.end(column)
  if (start === end) return at
  let place = at
  to[place++] = comma
  place = copy(before, 0, before.length, to, place)
  place = copy(name, 0, name.length, to, place)
  place = copy(record.bytes, start, end, to, place)
  to[place++] = quote
  return place
}
