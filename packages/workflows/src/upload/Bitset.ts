/**
 * A set of row numbers, a bit each: half a megabyte for four million rows.
 */

export interface Bitset {
  readonly add: (row: number) => void
  readonly remove: (row: number) => void
  readonly has: (row: number) => boolean
}

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
