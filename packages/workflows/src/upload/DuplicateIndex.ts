/**
 * Finds the rows of a file whose address another row has too, with 16 bytes of memory a row.
 * (docs/decisions/bulk-import.md)
 */
import { Effect } from "effect"
import type { FastContact } from "@roster/domain"

/** Three words of hash, and the number of the row. */
const wordsPerRow = 4

/** Rows are kept by the last byte of their hash, so that those compared with each other fit into a processor cache. */
const parts = 256

const rowsPerBlock = 1024

/** The rows of a part, in file order. All blocks but the last are full. */
interface Part {
  readonly blocks: Array<Uint32Array>
  rows: number
}

/** Adds 96 bits of hash and the number of a row. */
const push = (part: Part, h0: number, h1: number, h2: number, row: number): void => {
  const at = (part.rows % rowsPerBlock) * wordsPerRow
  if (at === 0) part.blocks.push(new Uint32Array(rowsPerBlock * wordsPerRow))
  const block = part.blocks[part.blocks.length - 1]
  part.rows++
  if (block === undefined) return
  block[at] = h0
  block[at + 1] = h1
  block[at + 2] = h2
  block[at + 3] = row
}

/** Calls `visit` with each row whose hash another has too, and the first or last of those. */
const compare = (
  words: Uint32Array,
  rows: number,
  winners: Uint32Array,
  winner: "first" | "last",
  visit: (row: number, winner: number) => void
): void => {
  // `winners` is a hash table, at most half full, of the row that counts of each hash: the offset of its words, counted from 1.
  const mask = winners.length - 1
  winners.fill(0)
  for (let number = 0; number < rows; number++) {
    const place = (winner === "first" ? number : rows - 1 - number) * wordsPerRow
    const h0 = words[place] ?? 0
    for (let at = h0 & mask; ; at = (at + 1) & mask) {
      const found = (winners[at] ?? 0) - 1
      if (found < 0) winners[at] = place + 1
      else {
        const isSame =
          words[found] === h0 && words[found + 1] === words[place + 1] && words[found + 2] === words[place + 2]
        if (!isSame) continue
        visit(words[place + 3] ?? 0, words[found + 3] ?? 0)
      }
      break
    }
  }
}

/** Finds the rows of a file whose address another row has too. */
export interface DuplicateIndex {
  /** Records the canonical address of a row; rows must be added in file order. */
  readonly add: (email: string | Pick<FastContact, "writeCanonicalEmail">, row: number) => void
  /** Calls `visit` with each row whose address another has too, but for the first or last, and with that one. */
  readonly repeated: (winner: "first" | "last", visit: (row: number, winner: number) => void) => Effect.Effect<void>
}

/**
 * An empty index. The probability of a collision is 10⁻¹⁶ in a file of four million rows, and 10⁻¹⁴ in one of 50
 * million.
 */
export const makeDuplicateIndex = (): DuplicateIndex => {
  const all = Array.from({ length: parts }, (): Part => ({ blocks: [], rows: 0 }))
  /**
   * The secret key: three random words for each value of the byte at each place. Their sum is the hash (Zobrist), so two
   * texts, chosen without the key, are taken for one with a probability of 2⁻⁹⁶.
   */
  const key: Array<Uint32Array> = []
  const encoder = new TextEncoder()
  // An address has at most 254 characters, but IDNA may lengthen its domain.
  let bytes = new Uint8Array(4096)

  const write = (text: string): number => {
    if (text.length * 3 > bytes.length) bytes = new Uint8Array(text.length * 3)
    return encoder.encodeInto(text, bytes).written
  }

  return {
    add: (email, row) => {
      const length = typeof email === "string" ? write(email) : email.writeCanonicalEmail(bytes)
      let h0 = 0
      let h1 = 0
      let h2 = 0
      for (let place = 0; place < length; place++) {
        // oxlint-disable-next-line eslint/no-restricted-globals -- the answer is the same with any key
        const words = (key[place] ??= crypto.getRandomValues(new Uint32Array(256 * 3)))
        const at = (bytes[place] ?? 0) * 3
        h0 ^= words[at] ?? 0
        h1 ^= words[at + 1] ?? 0
        h2 ^= words[at + 2] ?? 0
      }
      const part = all[h2 & (parts - 1)]
      if (part !== undefined) push(part, h0, h1, h2, row)
    },
    repeated: Effect.fnUntraced(function* (winner, visit) {
      const most = Math.max(...all.map(({ rows }) => rows))
      const winners = new Uint32Array(2 ** Math.ceil(Math.log2(2 * most + 1)))
      const words = new Uint32Array(Math.max(...all.map(({ blocks }) => blocks.length)) * rowsPerBlock * wordsPerRow)
      for (const { blocks, rows } of all) {
        for (const [number, block] of blocks.entries()) words.set(block, number * block.length)
        compare(words, rows, winners, winner, visit)
        yield* Effect.yieldNow
      }
    })
  }
}

/** A set of row numbers, one bit each: half a megabyte for four million rows. */
export interface Bitset {
  /** Adds a number. */
  readonly add: (row: number) => void
  /** Removes a number. */
  readonly remove: (row: number) => void
  /** Whether it has a number. */
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
