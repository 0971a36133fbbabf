/** Finds duplicate addresses in constant memory; large files are spilled to disk. (docs/decisions/bulk-import.md) */
import { Effect, FileSystem, type PlatformError, Scope } from "effect"
import type { FastContact } from "@roster/domain"
import { openUnnamed, readAt } from "./UnnamedFile.ts"

/** Three words of hash, and the number of the row. */
const wordsPerRow = 4

/** The number of partitions by hash, so that the rows compared at the end fit into a processor cache. */
const parts = 64

/** Rows that a part holds in memory before they are spilled: a quarter of a million in all parts. */
const rowsPerBlock = 4096
const wordsPerBlock = rowsPerBlock * wordsPerRow

type Words = Uint32Array<ArrayBuffer>

/** HalfSipHash-1-3 of words, in 64 bits. The secret key prevents files with colliding addresses. */
const halfSipHash = (
  words: Uint32Array,
  length: number,
  key0: number,
  key1: number,
  to: Uint32Array,
  at: number
): void => {
  let v0 = key0 | 0
  let v1 = key1 ^ 0xee
  let v2 = key0 ^ 0x6c796765
  let v3 = key1 ^ 0x74656462
  const count = (length >>> 2) + 1
  for (let round = 0; round < count + 6; round++) {
    const word = round < count ? (words[round] ?? 0) : 0
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
    if (round === count - 1) v2 ^= 0xee
    if (round === count + 2) {
      to[at] = v1 ^ v3
      v1 ^= 0xdd
    }
  }
  to[at + 1] = v1 ^ v3
}

/** A place for blocks of words. */
interface Spill<E> {
  /** Appends a block and returns its number. */
  readonly write: (block: Words) => Effect.Effect<number, E>
  /** Fills `to`, which has the length of a block, with the block of that number. */
  readonly read: (number: number, to: Words) => Effect.Effect<void, E>
}

const bytesOf = ({ buffer, byteLength, byteOffset }: Uint32Array<ArrayBuffer>) =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** A temporary file for blocks of one length, created with the first block. */
const makeSpillFile = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  let blocks = 0
  const opened = yield* Effect.cached(
    openUnnamed("roster-rows-").pipe(Scope.provide(scope), Effect.provideService(FileSystem.FileSystem, fs))
  )

  const spill: Spill<PlatformError.PlatformError> = {
    write: (block) => Effect.flatMap(opened, (file) => Effect.map(file.writeAll(bytesOf(block)), () => blocks++)),
    read: Effect.fnUntraced(function* (number, to) {
      const bytes = yield* readAt(yield* opened, number * to.byteLength, bytesOf(to))
      if (bytes === undefined) return yield* Effect.die(new Error("a temporary file without a name was cut off"))
    })
  }
  return spill
})

const makeSpillMemory = (): Spill<never> => {
  const blocks: Array<Words> = []
  return {
    write: (block) => Effect.sync(() => blocks.push(block.slice()) - 1),
    read: (number, to) => Effect.sync(() => to.set(blocks[number] ?? []))
  }
}

interface Part {
  /** The numbers of its blocks on disk, in file order. */
  readonly spilled: Array<number>
  block: Words | undefined
  /** Number of words of `block` in use. */
  used: number
}

/** Calls `visit` with each of the first `rows` rows that a later row with the same hash follows. */
const compare = (words: Words, rows: number, last: Words, visit: (row: number) => void): void => {
  // `last` is a hash table, at most half full, of the last row of each hash: the offset of its words, counted from 1.
  const mask = 2 ** Math.ceil(Math.log2(2 * rows + 1)) - 1
  last.fill(0, 0, mask + 1)
  for (let place = 0; place < rows * wordsPerRow; place += wordsPerRow) {
    const h0 = words[place] ?? 0
    const h1 = words[place + 1] ?? 0
    const h2 = words[place + 2] ?? 0
    for (let at = h0 & mask; ; at = (at + 1) & mask) {
      const before = (last[at] ?? 0) - 1
      if (before >= 0) {
        if (words[before] !== h0 || words[before + 1] !== h1 || words[before + 2] !== h2) continue
        visit(words[before + 3] ?? 0)
      }
      last[at] = place + 1
      break
    }
  }
}

/** Finds the rows of a file whose address a later row has again. */
export interface DuplicateIndex<E> {
  /** Records the canonical address of a row; rows must be added in file order. */
  readonly add: (email: string | Pick<FastContact, "writeCanonicalEmail">, row: number) => void
  /** Writes full blocks to disk. Call it every few thousand rows. */
  readonly spill: Effect.Effect<void, E>
  /** Calls `visit` with each row that a later row of the same address supersedes, and empties the index. */
  readonly superseded: (visit: (row: number) => void) => Effect.Effect<void, E>
}

/** An empty index. The probability of a collision is 10⁻¹⁶ in a file of four million rows. */
const makeIndex = <E>(disk: Spill<E>): DuplicateIndex<E> => {
  const keys = crypto.getRandomValues(new Uint32Array(4))
  const [a = 0, b = 0, c = 0, d = 0] = keys
  const hash = new Uint32Array(4)
  const encoder = new TextEncoder()
  // An address has at most 254 characters, but IDNA may lengthen its domain.
  let words = new Uint32Array(1024)
  let bytes = new Uint8Array(words.buffer)
  let all: ReadonlyArray<Part> = []
  let full: Array<{ readonly part: Part; readonly block: Words }> = []
  let spare: Array<Words> = []

  const write = (text: string): number => {
    if (text.length * 3 + 4 > bytes.length) {
      words = new Uint32Array(text.length + 1)
      bytes = new Uint8Array(words.buffer)
    }
    return encoder.encodeInto(text, bytes).written
  }
  const clear = () => {
    all = Array.from({ length: parts }, (): Part => ({ spilled: [], block: undefined, used: 0 }))
    full = []
    spare = []
  }
  clear()

  const spillFull = Effect.gen(function* () {
    const blocks = full
    full = []
    for (const { block, part } of blocks) {
      part.spilled.push(yield* disk.write(block))
      spare.push(block)
    }
  })
  const spill = Effect.suspend(() => (full.length === 0 ? Effect.void : spillFull))

  return {
    add: (email, row) => {
      const length = typeof email === "string" ? write(email) : email.writeCanonicalEmail(bytes)
      // The last word holds the rest of the text and its length.
      for (let at = length; at < (length & ~3) + 3; at++) bytes[at] = 0
      bytes[(length & ~3) + 3] = length
      halfSipHash(words, length, a, b, hash, 0)
      halfSipHash(words, length, c, d, hash, 2)
      const part = all[(hash[3] ?? 0) % parts]
      if (part === undefined) return
      const block = (part.block ??= spare.pop() ?? new Uint32Array(wordsPerBlock))
      const at = part.used
      block[at] = hash[0] ?? 0
      block[at + 1] = hash[1] ?? 0
      block[at + 2] = hash[2] ?? 0
      block[at + 3] = row
      part.used += wordsPerRow
      if (part.used < wordsPerBlock) return
      full.push({ part, block })
      part.block = undefined
      part.used = 0
    },
    spill,
    superseded: Effect.fnUntraced(function* (visit) {
      yield* spill
      const most = Math.max(...all.map(({ spilled, used }) => spilled.length * wordsPerBlock + used))
      const last = new Uint32Array(2 ** Math.ceil(Math.log2((2 * most) / wordsPerRow + 1)))
      const read = new Uint32Array(all.some(({ spilled }) => spilled.length > 0) ? most : 0)
      for (const { block = read, spilled, used } of all) {
        const before = spilled.length * wordsPerBlock
        for (const [at, number] of spilled.entries()) {
          yield* disk.read(number, read.subarray(at * wordsPerBlock, (at + 1) * wordsPerBlock))
        }
        if (before > 0) read.set(block.subarray(0, used), before)
        compare(before > 0 ? read : block, (before + used) / wordsPerRow, last, visit)
      }
      clear()
    })
  }
}

/** An index that spills to a temporary file. */
export const makeDuplicateIndex = Effect.map(makeSpillFile, makeIndex)

/** An index in memory, with 16 bytes for each row. */
export const makeMemoryIndex = Effect.sync(() => makeIndex(makeSpillMemory()))

/** A set of row numbers, one bit each: half a megabyte for four million rows. */
export interface Bitset {
  readonly add: (row: number) => void
  readonly remove: (row: number) => void
  readonly has: (row: number) => boolean
}

/** An empty set. */
export const makeBitset = (): Bitset => {
  let bits = new Uint8Array(1024)
  return {
    add: (row) => {
      const at = row >>> 3
      if (at >= bits.length) {
        const larger = new Uint8Array(Math.max(at + 1, bits.length * 2))
        larger.set(bits)
        bits = larger
      }
      bits[at] = (bits[at] ?? 0) | (1 << (row & 7))
    },
    remove: (row) => {
      const at = row >>> 3
      if (at < bits.length) bits[at] = (bits[at] ?? 0) & ~(1 << (row & 7))
    },
    has: (row) => ((bits[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0
  }
}
