/** Counts the rows whose address an earlier row of the file has, by a hash of 53 bits for each address. */

/** The addresses that are noted, which takes up to 128 MiB. Rows that repeat others are not counted. */
const maximumAddresses = 8 * 1024 * 1024

/** FNV-1a, and a variant with another start and multiplier: together a whole number above 0 that a double holds. */
const hashOf = (identity: string): number => {
  let [one, other] = [0x811c9dc5, 0x9747b28c]
  for (let at = 0; at < identity.length; at++) {
    const code = identity.charCodeAt(at)
    one = Math.imul(one ^ code, 0x01000193)
    other = Math.imul(other ^ code, 0x5bd1e995)
  }
  return ((one ^ (one >>> 15)) >>> 0) * 2 ** 21 + ((other ^ (other >>> 13)) >>> 11) + 1
}

/** Makes a function that notes an address, and says whether it was noted before. */
export const makeRepeatedEmails = (): ((identity: string) => boolean) => {
  let slots = new Float64Array(2 ** 12)
  let size = 0
  /** Where a hash stands, or the free place for it. */
  const placeOf = (hash: number): number => {
    let place = hash % slots.length
    while (slots[place] !== 0 && slots[place] !== hash) place = (place + 1) % slots.length
    return place
  }
  return (identity) => {
    const hash = hashOf(identity)
    const place = placeOf(hash)
    if (slots[place] === hash) return true
    if (size === maximumAddresses) return false
    slots[place] = hash
    if (++size * 2 > slots.length) {
      const before = slots
      slots = new Float64Array(before.length * 2)
      for (const noted of before) if (noted !== 0) slots[placeOf(noted)] = noted
    }
    return false
  }
}
