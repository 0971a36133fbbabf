/**
 * A bound on what is held at one time: by one key, such as an account, and by all of them. The main account has its own
 * share whatever all others hold, so that subaccounts never keep the administrator out. (docs/limits.md)
 */
import { Effect, type Scope } from "effect"

/** The bound that left no room: the key's own share, or what all may hold. */
export type Full = "own" | "all"

export interface Quota {
  /** Takes for a key, for good, what there is room for, and gives the bound that leaves none. */
  readonly take: (key: string, weight?: number) => Full | undefined
  /** Takes for a key until the scope ends. Gives the function that takes more for the same time. */
  readonly hold: (
    key: string,
    weight?: number
  ) => Effect.Effect<(further: number) => Effect.Effect<void, Full>, Full, Scope.Scope>
  /** What all keys hold. */
  readonly held: () => number
}

/** The key of the main account. */
const main = ""

/** Makes a quota. Only keys that hold anything have an entry, so there are no more than all may hold. */
export const makeQuota = ({ all, own }: { readonly own: number; readonly all: number }): Quota => {
  const shares = new Map<string, number>()
  let sum = 0

  const add = (key: string, weight: number): void => {
    const share = (shares.get(key) ?? 0) + weight
    if (share === 0) shares.delete(key)
    else shares.set(key, share)
    sum += weight
  }

  const take: Quota["take"] = (key, weight = 1) => {
    if ((shares.get(key) ?? 0) + weight > own) return "own"
    if (key !== main && sum - (shares.get(main) ?? 0) + weight > all) return "all"
    add(key, weight)
    return undefined
  }

  const hold: Quota["hold"] = (key, weight = 1) =>
    Effect.suspend(() => {
      let taken = 0
      const takeMore = (further: number) =>
        Effect.suspend(() => {
          const full = take(key, further)
          if (full !== undefined) return Effect.fail(full)
          taken += further
          return Effect.void
        })
      const release = Effect.sync(() => add(key, -taken))
      return Effect.as(
        Effect.acquireRelease(takeMore(weight), () => release),
        takeMore
      )
    })

  return { take, hold, held: () => sum }
}
