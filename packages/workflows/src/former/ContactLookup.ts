/** Finds what is stored for many addresses, in as few calls as the number of contacts allows. */
import {
  canonicalEmail,
  ContactsService,
  type InvalidInput,
  type InvalidRule,
  JsonParser,
  LocalContacts,
  type ServiceError
} from "@roster/domain"
import { Effect, type FileSystem, type PlatformError, type Scope, Stream } from "effect"
import { openUnnamed, readAt } from "./UnnamedFile.ts"
import { type ContactState, contentOf } from "./ContactState.ts"

/** Finds contacts. */
export interface ContactLookup {
  /** Gives the state for each address, in their order, without metadata. */
  readonly find: (
    emails: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<ContactState | undefined>, InvalidInput | ServiceError | PlatformError.PlatformError>
  /** Whether the states have the lists of the contacts. */
  readonly hasLists: boolean
}

/** A page of 1000 contacts costs about as much as this many single reads. */
const readsPerPage = 50

/** Number of single reads at one time. */
const readsAtOnce = 8

const single = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const find = (email: string) =>
    contacts.get(email).pipe(
      Effect.map((contact) => contentOf(contact)),
      Effect.catchTag("ContactNotFound", () => Effect.undefined)
    )
  const lookup: ContactLookup = {
    find: (emails) => Effect.forEach(emails, find, { concurrency: readsAtOnce }),
    hasLists: false
  }
  return lookup
})

const local = (store: LocalContacts): ContactLookup => ({
  find: (emails) =>
    Effect.map(store.read(emails), (found) =>
      found.map((stored) => (stored === undefined ? undefined : contentOf(stored.contact, stored.lists)))
    ),
  hasLists: true
})

/** FNV-1a of a text, in 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}

/** The place of each contact in a file by the hash of its address. 16 bytes per slot; the table is at most half full. */
const makeTable = () => {
  let hashes = new Uint32Array(2048)
  let lengths = new Uint32Array(2048)
  let places = new Float64Array(2048)
  let count = 0
  const put = (key: number, place: number, length: number): void => {
    const mask = hashes.length - 1
    let at = key & mask
    while (lengths[at] !== 0) at = (at + 1) & mask
    hashes[at] = key
    lengths[at] = length
    places[at] = place
  }
  return {
    add: (key: number, place: number, length: number): void => {
      if (++count * 2 > hashes.length) {
        const [oldHashes, oldLengths, oldPlaces] = [hashes, lengths, places]
        hashes = new Uint32Array(oldHashes.length * 2)
        lengths = new Uint32Array(oldHashes.length * 2)
        places = new Float64Array(oldHashes.length * 2)
        for (const [at, old] of oldLengths.entries()) if (old !== 0) put(oldHashes[at] ?? 0, oldPlaces[at] ?? 0, old)
      }
      put(key, place, length)
    },
    find: (key: number): ReadonlyArray<{ readonly place: number; readonly length: number }> => {
      const mask = hashes.length - 1
      const found: Array<{ readonly place: number; readonly length: number }> = []
      for (let at = key & mask; lengths[at] !== 0; at = (at + 1) & mask) {
        if (hashes[at] === key) found.push({ place: places[at] ?? 0, length: lengths[at] ?? 0 })
      }
      return found
    }
  }
}

/** Size of the blocks in which the file is read, and how many of them are kept in memory. */
const blockBytes = 64 * 1024
const blocksKept = 64

/** Reads all contacts once, page by page, into a temporary file without a name. */
const listed = Effect.fnUntraced(function* (onProgress: ((read: number) => Effect.Effect<void>) | undefined) {
  const contacts = yield* ContactsService
  const file = yield* openUnnamed("roster-contacts-")
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  const table = makeTable()
  let written = 0
  let read = 0
  yield* Stream.runForEachArray(contacts.stream(), (part) =>
    Effect.suspend(() => {
      const lines = part.map((contact) => {
        const line = encoder.encode(JSON.stringify(contentOf(contact)))
        table.add(hash(canonicalEmail(contact.email)), written, line.length)
        written += line.length
        return line
      })
      read += part.length
      const bytes = new Uint8Array(lines.reduce((sum, { length }) => sum + length, 0))
      let at = 0
      for (const line of lines) {
        bytes.set(line, at)
        at += line.length
      }
      return Effect.andThen(file.writeAll(bytes), onProgress?.(read) ?? Effect.void)
    })
  )
  /** The blocks that were read last, the oldest first: files are often in the order of the account. */
  const blocks = new Map<number, Uint8Array>()
  const readBlock = Effect.fnUntraced(function* (number: number) {
    const at = number * blockBytes
    const bytes = yield* readAt(file, at, new Uint8Array(Math.min(blockBytes, written - at)))
    if (bytes === undefined) return yield* Effect.die(new Error("a temporary file was cut off"))
    const [oldest] = blocks.keys()
    if (blocks.size >= blocksKept && oldest !== undefined) blocks.delete(oldest)
    blocks.set(number, bytes)
    return bytes
  })
  // Steps of one effect: an effect for each contact would cost more than to find it.
  const bytesAt = function* (place: number, length: number) {
    const bytes = new Uint8Array(length)
    for (let at = place; at < place + length;) {
      const number = Math.floor(at / blockBytes)
      const block = blocks.get(number) ?? (yield* readBlock(number))
      const part = block.subarray(at - number * blockBytes, place + length - number * blockBytes)
      if (part.length === length) return part
      bytes.set(part, at - place)
      at += part.length
    }
    return bytes
  }
  const findOne = function* (email: string) {
    const canonical = canonicalEmail(email)
    for (const { length, place } of table.find(hash(canonical))) {
      // This module wrote it.
      const state = JsonParser.parse(decoder.decode(yield* bytesAt(place, length))) as ContactState
      if (canonicalEmail(String(state["Email"])) === canonical) return state
    }
    return undefined
  }
  const find = Effect.fnUntraced(function* (emails: ReadonlyArray<string>) {
    const found: Array<ContactState | undefined> = []
    for (const email of emails) found.push(yield* findOne(email))
    return found
  })
  const lookup: ContactLookup = { find, hasLists: false }
  return lookup
})

/** How contacts are found. */
export interface LookupOptions {
  /** About how many addresses will be asked for. */
  readonly expected: number
  /** Runs while all contacts are read. */
  readonly onProgress?: ((read: number) => Effect.Effect<void>) | undefined
}

/**
 * Finds contacts in the store of this process, by single reads if few are asked for or the account is far larger, and
 * otherwise among all contacts, which are read once. Then it keeps up to 64 bytes of each in memory.
 */
export const makeContactLookup = Effect.fnUntraced(function* ({
  expected,
  onProgress
}: LookupOptions): Effect.fn.Return<
  ContactLookup,
  InvalidRule | InvalidInput | ServiceError | PlatformError.PlatformError,
  ContactsService | FileSystem.FileSystem | Scope.Scope
> {
  const store = yield* LocalContacts
  if (store !== undefined) return local(store)
  const contacts = yield* ContactsService
  if (expected <= readsPerPage) return yield* single
  const pages = Math.ceil(expected / readsPerPage)
  const beyond = yield* contacts.list({ limit: 1, offset: pages * 1000 })
  return yield* beyond.length > 0 ? single : listed(onProgress)
})
