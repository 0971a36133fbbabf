/**
 * Fast path: the contacts of CSV rows, kept as the JSON that the HTTP client sends. Simple rows are copied as bytes, without
 * objects in between; all others go through the schema. It pays for the bulk claims of `addRows`, whose CPU time of a row is
 * 2.2 times as long with an array of contacts instead.
 */
import { Result, Schema } from "effect"
import { ContactPayload } from "../contacts/Contact.ts"
import { inputProblem } from "../errors/InvalidInput.ts"
import { parse } from "../values/JsonParser.ts"
import type { ImportRow } from "./ContactCsv.ts"

const encode = Schema.encodeUnknownResult(ContactPayload)
const decodeAll = Schema.decodeUnknownSync(Schema.Array(ContactPayload))
const encoder = new TextEncoder()
const open = 0x5b
const close = 0x5d
const comma = 0x2c

/** Initial room for the JSON of a batch, in bytes. */
const firstRoom = 128 * 1024

/** Maximum room that is kept for a later batch, in bytes. */
const largestSpare = 1024 * 1024

/** A sequence of contacts that is decoded when somebody reads it. */
export class FastContacts implements Iterable<ContactPayload> {
  readonly length: number
  /** The contacts as a JSON array in UTF-8. */
  readonly json: Uint8Array
  #contacts: ReadonlyArray<ContactPayload> | undefined

  constructor(json: Uint8Array, length: number) {
    this.length = length
    this.json = json
  }

  [Symbol.iterator](): Iterator<ContactPayload> {
    return (this.#contacts ??= decodeAll(parse(new TextDecoder().decode(this.json))))[Symbol.iterator]()
  }
}

/** Collects the contacts of rows. */
export class FastContactsWriter {
  readonly #spare: Array<Uint8Array<ArrayBuffer>> = []
  #json = new Uint8Array(firstRoom)
  #used = 0
  #count = 0

  /** Number of contacts since the last `take`. */
  get count(): number {
    return this.#count
  }

  /** Adds the contact of a row, or returns the reason why there is none. */
  add(row: Pick<ImportRow, "contact" | "fast">): string | undefined {
    const { fast } = row
    if (fast !== undefined) {
      this.#begin(fast.jsonLimit)
      this.#used = fast.writeJson(this.#json, this.#used)
      return undefined
    }
    const encoded = Result.flatMap(row.contact, (payload) => Result.mapError(encode(payload), inputProblem))
    if (Result.isFailure(encoded)) return encoded.failure
    const bytes = encoder.encode(JSON.stringify(encoded.success))
    this.#begin(bytes.length)
    this.#json.set(bytes, this.#used)
    this.#used += bytes.length
    return undefined
  }

  /** The contacts since the last `take`. */
  take(): FastContacts {
    if (this.#count === 0) this.#json[this.#used++] = open
    this.#json[this.#used++] = close
    const taken = new FastContacts(this.#json.subarray(0, this.#used), this.#count)
    // The next batch is about as large.
    this.#json = this.#spare.pop() ?? new Uint8Array(Math.ceil(this.#used * 1.1) + 2)
    this.#used = 0
    this.#count = 0
    return taken
  }

  /** Lets a later batch overwrite contacts that nobody reads any more. It pays for the peak memory of an upload. */
  recycle({ json: { buffer } }: FastContacts): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength <= largestSpare) this.#spare.push(new Uint8Array(buffer))
  }

  /** Makes room for a contact and the bracket behind it, and writes the bracket or comma in front. */
  #begin(bytes: number): void {
    const needed = this.#used + bytes + 2
    if (needed > this.#json.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#json.length))
      larger.set(this.#json.subarray(0, this.#used))
      this.#json = larger
    }
    this.#json[this.#used++] = this.#count++ === 0 ? open : comma
  }
}
