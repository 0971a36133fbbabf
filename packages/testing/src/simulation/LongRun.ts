/**
 * The sizes of durability tests: enough to detect a fault on each run or, with `ROSTER_LONG_RUN`, the sizes that are
 * claimed.
 */

export const longRun = process.env["ROSTER_LONG_RUN"] !== undefined

/** Chooses between the two sizes. */
export const amount = (each: { readonly ci: number; readonly long: number }): number => (longRun ? each.long : each.ci)

/** A seeded generator of random numbers in [0, 1) (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The seed of this run: `ROSTER_SEED`, or a new one, which is printed. */
export const runSeed = (name: string): number => {
  const seed = Number(process.env["ROSTER_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`${name}: seed ${seed}\n`)
  return seed
}
