/**
 * Finding, in a file of millions of rows, those that another row of the same address follows: 16 bytes for an address,
 * however long it is, in place of the address. (docs/decisions/bulk-import.md)
 */
import { Effect } from "effect"
import type { PlainContact } from "./PlainRow.ts"

/** Of each row: three words of the hash and its number. */
const wordsPerRow = 4

/** Rows fall into parts by their hash, so that what is compared at the end fits into the cache of a processor. */
const parts = 256

/** A part is a list of blocks, of so many rows each: nothing is copied when it grows. */
const rowsPerBlock = 512

/**
 * HalfSipHash-1-3 of 64 bits, as hash tables have it, over bytes that are there as words. It has a key, so that nobody can
 * write a file in which one address is taken for another.
 */
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

interface Part {
  readonly blocks: Array<Uint32Array<ArrayBuffer>>
  used: number
}

/** Tells of each row of a part that another one of the same hash follows. */
const compare = ({ blocks, used }: Part, tell: (row: number) => void): void => {
  // The last row of each hash so far, by its place in the part, counted from 1; at most half of it is filled.
  const last = new Uint32Array(2 ** Math.ceil(Math.log2(2 * used + 1)))
  const wordOf = (place: number, word: number): number =>
    blocks[Math.floor(place / rowsPerBlock)]?.[(place % rowsPerBlock) * wordsPerRow + word] ?? 0
  for (let place = 0; place < used; place++) {
    const h0 = wordOf(place, 0)
    const h1 = wordOf(place, 1)
    const h2 = wordOf(place, 2)
    for (let at = h0 & (last.length - 1); ; at = (at + 1) & (last.length - 1)) {
      const before = (last[at] ?? 0) - 1
      const isSame = before >= 0 && wordOf(before, 0) === h0 && wordOf(before, 1) === h1 && wordOf(before, 2) === h2
      if (before >= 0 && !isSame) continue
      if (isSame) tell(wordOf(before, 3))
      last[at] = place + 1
      break
    }
  }
}

/**
 * @category models
 * @since 0.1.0
 */
export interface RowIndex {
  /** Notes the identity of a row. Rows come in their order. */
  readonly put: (identity: string | Pick<PlainContact, "writeIdentity">, row: number) => void
  /** Tells of each row that another one of the same identity follows. Whatever was noted is forgotten. */
  readonly followed: (tell: (row: number) => void) => void
}

/**
 * An empty index. Two identities are taken for one with a probability of 10⁻¹⁶ in a file of four million.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeRowIndex: Effect.Effect<RowIndex> = Effect.sync(() => {
  const keys = crypto.getRandomValues(new Uint32Array(4))
  const [a = 0, b = 0, c = 0, d = 0] = keys
  const hash = new Uint32Array(4)
  const encoder = new TextEncoder()
  // An identity has 254 characters; what IDNA makes of a domain is longer, if anything is.
  let words = new Uint32Array(1024)
  let bytes = new Uint8Array(words.buffer)
  let all: ReadonlyArray<Part> = []

  const write = (text: string): number => {
    if (text.length * 3 + 4 > bytes.length) {
      words = new Uint32Array(text.length + 1)
      bytes = new Uint8Array(words.buffer)
    }
    return encoder.encodeInto(text, bytes).written
  }
  const clear = () => {
    all = Array.from({ length: parts }, (): Part => ({ blocks: [], used: 0 }))
  }
  clear()
  return {
    put: (identity, row) => {
      const length = typeof identity === "string" ? write(identity) : identity.writeIdentity(bytes)
      // The last word has what is left of the text, and its length.
      for (let at = length; at < (length & ~3) + 3; at++) bytes[at] = 0
      bytes[(length & ~3) + 3] = length
      halfSipHash(words, length, a, b, hash, 0)
      halfSipHash(words, length, c, d, hash, 2)
      const part = all[(hash[3] ?? 0) % parts]
      if (part === undefined) return
      const at = (part.used % rowsPerBlock) * wordsPerRow
      if (at === 0) part.blocks.push(new Uint32Array(rowsPerBlock * wordsPerRow))
      const block = part.blocks[part.blocks.length - 1]
      if (block === undefined) return
      block[at] = hash[0] ?? 0
      block[at + 1] = hash[1] ?? 0
      block[at + 2] = hash[2] ?? 0
      block[at + 3] = row
      part.used++
    },
    followed: (tell) => {
      for (const part of all) {
        compare(part, tell)
        // What comes next needs the memory sooner than it would be collected.
        for (const block of part.blocks) block.buffer.transfer(0)
      }
      clear()
    }
  }
})
