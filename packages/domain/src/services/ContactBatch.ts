/**
 * Contacts on their way, as many as one add may carry: the very bytes that go over a wire, written once and kept for whoever
 * sends them again, and the contacts themselves where somebody wants those.
 */
import { Result, Schema } from "effect"
import { ContactPayload } from "../contacts/Contact.ts"
import type { ImportRow } from "../csv/ContactCsv.ts"
import { type InvalidInput, inputProblem, invalidInput } from "../errors/InvalidInput.ts"
import * as JsonParser from "../values/JsonParser.ts"

export interface ContactBatch {
  readonly count: number
  /** What is wrong with the first contact that the interface cannot write, as callers whom no compiler stopped make them. */
  readonly refusal: InvalidInput | undefined
  /** The contacts as the interface writes them: a JSON array in UTF-8. It throws the refusal, where there is one. */
  readonly json: Uint8Array
  readonly contacts: ReadonlyArray<ContactPayload>
  /** Those from one place to before another, counted from 0. */
  readonly slice: (from: number, to: number) => ContactBatch
}

const encodePayload = Schema.encodeUnknownResult(ContactPayload)
const encodePayloads = Schema.encodeUnknownResult(Schema.Array(ContactPayload))
const decodePayloads = Schema.decodeUnknownSync(Schema.Array(ContactPayload))
const encoder = new TextEncoder()
const open = 0x5b
const close = 0x5d
const comma = 0x2c

const bytesOf = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))

/** Contacts that stand behind each other in JSON, each with a comma or bracket behind it. */
class JsonBatch implements ContactBatch {
  readonly count: number
  readonly refusal = undefined
  readonly json: Uint8Array
  /** Behind each contact. */
  readonly #ends: Int32Array
  #contacts: ReadonlyArray<ContactPayload> | undefined

  constructor(json: Uint8Array, ends: Int32Array) {
    this.count = ends.length
    this.json = json
    this.#ends = ends
  }

  get contacts(): ReadonlyArray<ContactPayload> {
    return (this.#contacts ??= decodePayloads(JsonParser.parse(new TextDecoder().decode(this.json))))
  }

  slice(from: number, to: number): ContactBatch {
    if (from >= to) return new JsonBatch(Uint8Array.of(open, close), new Int32Array(0))
    const before = from === 0 ? 0 : (this.#ends[from - 1] ?? 0)
    // A comma or bracket stands at both ends.
    const json = this.json.slice(before, (this.#ends[to - 1] ?? before) + 1)
    json[0] = open
    json[json.length - 1] = close
    return new JsonBatch(
      json,
      this.#ends.slice(from, to).map((end) => end - before)
    )
  }
}

class PayloadBatch implements ContactBatch {
  readonly contacts: ReadonlyArray<ContactPayload>
  #json: Result.Result<Uint8Array, InvalidInput> | undefined

  constructor(contacts: ReadonlyArray<ContactPayload>) {
    this.contacts = contacts
  }

  get count(): number {
    return this.contacts.length
  }

  get refusal(): InvalidInput | undefined {
    const written = this.#write()
    return Result.isFailure(written) ? written.failure : undefined
  }

  get json(): Uint8Array {
    return Result.getOrThrow(this.#write())
  }

  #write(): Result.Result<Uint8Array, InvalidInput> {
    return (this.#json ??= Result.mapBoth(encodePayloads(this.contacts), {
      onSuccess: bytesOf,
      onFailure: (error) => invalidInput(error)
    }))
  }

  slice(from: number, to: number): ContactBatch {
    return new PayloadBatch(this.contacts.slice(from, to))
  }
}

export const contactBatch = (contacts: ReadonlyArray<ContactPayload>): ContactBatch => new PayloadBatch(contacts)

/**
 * The contact of a row, or why there is none. A row that was not read from a file may hold what the interface cannot write.
 */
export const contactOf = ({ contact }: ImportRow): Result.Result<ContactPayload, string> =>
  Result.flatMap(contact, (payload) => Result.map(wireOf(payload), () => payload))

const wireOf = (payload: ContactPayload): Result.Result<typeof ContactPayload.Encoded, string> =>
  Result.mapError(encodePayload(payload), inputProblem)

/** Writes the contacts of rows behind each other. */
export interface BatchWriter {
  readonly count: () => number
  /** Adds the contact of a row, and says whether there is one. */
  readonly add: (row: ImportRow) => boolean
  /** What was added so far; the next batch begins empty. */
  readonly take: () => ContactBatch
  /** Writes a later batch over one of its own, of which nobody sends or reads anything any more. */
  readonly reuse: (batch: ContactBatch) => void
}

/** How much room a batch has at first, in bytes; room that is larger than the last of these is not kept. */
const firstSize = 128 * 1024
const smallest = 4 * 1024
const largest = 1024 * 1024

/** Makes a writer for batches of at most so many contacts. */
export const makeBatchWriter = (maximum: number): BatchWriter => {
  const spare: Array<Uint8Array<ArrayBuffer>> = []
  let json = new Uint8Array(firstSize)
  let ends = new Int32Array(maximum)
  let used = 0
  let count = 0

  /** Makes room, one byte of it for the comma or bracket in front. */
  const reserve = (bytes: number): void => {
    if (used + bytes + 2 > json.length) {
      const larger = new Uint8Array(Math.max(json.length * 2, used + bytes + 2))
      larger.set(json.subarray(0, used))
      json = larger
    }
    json[used++] = count === 0 ? open : comma
  }

  return {
    count: () => count,
    add: (row) => {
      const { plain } = row
      if (plain !== undefined) {
        reserve(plain.jsonLimit)
        used = plain.writeJson(json, used)
      } else {
        const wire = Result.flatMap(row.contact, wireOf)
        if (Result.isFailure(wire)) return false
        const bytes = bytesOf(wire.success)
        reserve(bytes.length)
        json.set(bytes, used)
        used += bytes.length
      }
      ends[count++] = used
      return true
    },
    take: () => {
      if (count === 0) json[used++] = open
      json[used++] = close
      const batch = new JsonBatch(json.subarray(0, used), ends.subarray(0, count))
      // The next one is about as large.
      json = spare.pop() ?? new Uint8Array(Math.max(smallest, Math.ceil(used * 1.1)))
      ends = new Int32Array(maximum)
      used = 0
      count = 0
      return batch
    },
    reuse: ({ json: { buffer } }) => {
      if (buffer instanceof ArrayBuffer && buffer.byteLength <= largest) spare.push(new Uint8Array(buffer))
    }
  }
}
