/**
 * Finding, in a file of millions of rows, those that another row of the same address follows: 20 bytes or so for an address,
 * however long it is, in place of the address. (docs/decisions/bulk-import.md)
 */
import { Effect } from "effect"

/** Of each place: three words of the hash and the number of the row, which begins at 1. */
const wordsPerPlace = 4

/** Parts grow one at a time, so that there is never a second copy of the whole. */
const parts = 256

/**
 * Two HalfSipHash-2-4 of 64 bits each over the UTF-16 units, of which 96 bits are kept. It has a key, so that nobody can write
 * a file in which one address is taken for another.
 */
const half = (text: string, key0: number, key1: number, to: Uint32Array, at: number): void => {
  let v0 = key0 | 0
  let v1 = key1 ^ 0xee
  let v2 = key0 ^ 0x6c796765
  let v3 = key1 ^ 0x74656462
  const round = () => {
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
  }
  const take = (word: number) => {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }
  const pairs = text.length - (text.length % 2)
  for (let i = 0; i < pairs; i += 2) take(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16))
  take((text.length << 16) | (pairs < text.length ? text.charCodeAt(pairs) : 0))
  v2 ^= 0xee
  for (let i = 0; i < 4; i++) round()
  to[at] = v1 ^ v3
  v1 ^= 0xdd
  for (let i = 0; i < 4; i++) round()
  to[at + 1] = v1 ^ v3
}

interface Part {
  places: Uint32Array
  used: number
}

/** Where a hash stands in a part, or the empty place where it would. */
const find = (places: Uint32Array, h0: number, h1: number, h2: number): number => {
  const count = places.length / wordsPerPlace
  let place = h1 % count
  for (;;) {
    const at = place * wordsPerPlace
    if (places[at + 3] === 0 || (places[at] === h0 && places[at + 1] === h1 && places[at + 2] === h2)) return at
    place = place + 1 === count ? 0 : place + 1
  }
}

const put = (places: Uint32Array, at: number, h0: number, h1: number, h2: number, row: number): void => {
  places[at] = h0
  places[at + 1] = h1
  places[at + 2] = h2
  places[at + 3] = row
}

const grow = (part: Part): void => {
  const { places } = part
  const count = places.length / wordsPerPlace
  const larger = new Uint32Array(wordsPerPlace * (count + Math.ceil(count / 4)))
  for (let at = 0; at < places.length; at += wordsPerPlace) {
    const row = places[at + 3] ?? 0
    if (row === 0) continue
    const h0 = places[at] ?? 0
    const h1 = places[at + 1] ?? 0
    const h2 = places[at + 2] ?? 0
    put(larger, find(larger, h0, h1, h2), h0, h1, h2, row)
  }
  part.places = larger
}

/**
 * @category models
 * @since 0.1.0
 */
export interface RowIndex {
  /** Notes the last row of an identity, counted from 1. Gives the one before, or 0 where it is the first. */
  readonly put: (identity: string, row: number) => number
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
  const all = Array.from({ length: parts }, (): Part => ({ places: new Uint32Array(16 * wordsPerPlace), used: 0 }))
  return {
    put: (identity, row) => {
      half(identity, a, b, hash, 0)
      half(identity, c, d, hash, 2)
      const [h0 = 0, h1 = 0, h2 = 0, h3 = 0] = hash
      const part = all[h3 % parts]
      if (part === undefined) return 0
      if (part.used * 8 >= (part.places.length / wordsPerPlace) * 7) grow(part)
      const at = find(part.places, h0, h1, h2)
      const before = part.places[at + 3] ?? 0
      if (before === 0) part.used++
      put(part.places, at, h0, h1, h2, row)
      return before
    }
  }
})
