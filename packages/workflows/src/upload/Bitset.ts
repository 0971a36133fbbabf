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
