/**
 * Fast path: the contacts of CSV rows as the JSON that the HTTP client sends. Simple rows are copied as bytes, others
 * go through the schema. With an array of contacts, a row of `addRows` takes 2.2 times the CPU.
 */
import { Result, Schema } from "effect"
import { ContactPayload } from "../contacts/Contact.ts"
import { isMailedStatus } from "../contacts/Resubscription.ts"
import { schemaProblem } from "../errors/InvalidInput.ts"
import { encoded, JsonBuffer } from "../values/JsonBuffer.ts"
import { parse } from "../values/JsonParser.ts"
import type { ImportRow } from "./ImportRow.ts"

const encode = Schema.encodeUnknownResult(ContactPayload)
const encodePayload = (payload: unknown): Result.Result<string, string> =>
  Result.mapBoth(encode(payload), { onSuccess: (wire) => JSON.stringify(wire), onFailure: schemaProblem })
const decodeAll = Schema.decodeUnknownSync(Schema.Array(ContactPayload))
const list = { open: encoded("["), comma: encoded(","), close: encoded("]") }

/** Initial room for the JSON of a batch, in bytes. */
const firstRoom = 128 * 1024

/** Maximum room that is kept for a later batch, in bytes. */
const largestSpare = 1024 * 1024

/** A sequence of contacts that is decoded on demand. */
export class FastContacts implements Iterable<ContactPayload> {
  readonly length: number
  /** The contacts as a JSON array in UTF-8. */
  readonly json: Uint8Array
  /** Whether any of them has a status that may resubscribe a contact. The contact of a simple row has none. */
  readonly mayResubscribe: boolean
  #contacts: ReadonlyArray<ContactPayload> | undefined

  constructor(json: Uint8Array, length: number, mayResubscribe: boolean) {
    this.length = length
    this.json = json
    this.mayResubscribe = mayResubscribe
  }

  [Symbol.iterator](): Iterator<ContactPayload> {
    return (this.#contacts ??= decodeAll(parse(new TextDecoder().decode(this.json))))[Symbol.iterator]()
  }
}

/** Collects the contacts of rows. */
export class FastContactsWriter {
  readonly #spare: Array<Uint8Array<ArrayBuffer>> = []
  #json = new JsonBuffer(new Uint8Array(firstRoom))
  #count = 0
  #mayResubscribe = false

  /** Number of contacts since the last `take`. */
  get count(): number {
    return this.#count
  }

  /** Size of the JSON of these contacts, in bytes. */
  get bytes(): number {
    return this.#json.length
  }

  /** Adds the contact of a row, or returns the reason why there is none. */
  add(row: Pick<ImportRow, "contact" | "fast">): string | undefined {
    const { fast } = row
    // The contact of a simple row is not made.
    const json = fast === undefined ? Result.flatMap(row.contact, encodePayload) : undefined
    if (json !== undefined && Result.isFailure(json)) return json.failure
    this.#json.bytes(this.#count++ === 0 ? list.open : list.comma)
    if (json === undefined) fast?.writeJson(this.#json)
    else {
      this.#json.raw(json.success)
      this.#mayResubscribe ||= Result.isSuccess(row.contact) && isMailedStatus(row.contact.success.status)
    }
    return undefined
  }

  /** The contacts since the last `take`. */
  take(): FastContacts {
    if (this.#count === 0) this.#json.bytes(list.open)
    this.#json.bytes(list.close)
    const taken = new FastContacts(this.#json.take(), this.#count, this.#mayResubscribe)
    // The next batch is about as large.
    this.#json = new JsonBuffer(this.#spare.pop() ?? new Uint8Array(Math.ceil(taken.json.length * 1.1) + 2))
    this.#count = 0
    this.#mayResubscribe = false
    return taken
  }

  /** Reuses the memory of contacts that are no longer read, which lowers the peak memory of an upload. */
  recycle({ json: { buffer } }: FastContacts): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength <= largestSpare) this.#spare.push(new Uint8Array(buffer))
  }
}
