/**
 * A bound on what is held at one time: by one key, such as an account, and by all of them. The main account has its own
 * share whatever all others hold, so that subaccounts never keep the administrator out. (docs/limits.md)
 */
import { Effect, type Scope } from "effect"
import type { WatchedBound } from "./LastingRefusals.ts"

/** The bound that left no room: the key's own share, or what all may hold. */
export type Full = "own" | "all"

/** Who holds something and may wait for its client meanwhile. */
export interface Waiter {
  /** Since when it waits; `undefined` if it does not. */
  readonly waitsSince: () => number | undefined
  /** Ends it. */
  readonly endForOthers: () => void
}

export interface Quota {
  /** Takes for a key, for good, what there is room for, and gives the bound that leaves none. */
  readonly take: (key: string, weight?: number) => Full | undefined
  /** The bound that leaves a key no room. */
  readonly full: (key: string, weight: number) => Full | undefined
  /** Takes for a key until the scope ends. Gives the function that takes more for the same time. */
  readonly hold: (
    key: string,
    weight?: number,
    waiter?: Waiter
  ) => Effect.Effect<(further: number) => Full | undefined, Full, Scope.Scope>
  /** What all keys hold. */
  readonly held: () => number
}

/** The key of the main account. */
export const mainAccount = ""

interface Holder {
  readonly key: string
  readonly waiter: Waiter
  taken: number
}

/**
 * Makes a quota. Only keys that hold anything have an entry, so there are no more than all may hold. Where all hold as much
 * as they may, a key takes the place of one that holds more, of which that ends which has waited longest for its client.
 */
export const makeQuota = ({
  all,
  own,
  watched
}: {
  readonly own: number
  readonly all: number
  readonly watched?: WatchedBound | undefined
}): Quota => {
  const shares = new Map<string, number>()
  const holders = new Set<Holder>()
  let sum = 0

  const add = (key: string, weight: number): void => {
    const share = (shares.get(key) ?? 0) + weight
    if (share === 0) shares.delete(key)
    else shares.set(key, share)
    sum += weight
  }

  const giveBack = (holder: Holder): void => {
    holders.delete(holder)
    add(holder.key, -holder.taken)
    holder.taken = 0
  }

  /** Ends those of keys with a larger share that wait longest, if that makes enough room. */
  const makesRoom = (share: number, weight: number): boolean => {
    let needed = sum - (shares.get(mainAccount) ?? 0) + weight - all
    if (needed <= 0) return true
    const waiting = [...holders].flatMap((holder) => {
      const since = holder.waiter.waitsSince()
      const isLarger = holder.taken > 0 && (shares.get(holder.key) ?? 0) > share
      return since !== undefined && isLarger && holder.key !== mainAccount ? [{ holder, since }] : []
    })
    const ended = waiting
      .sort((a, b) => a.since - b.since)
      .filter(({ holder }) => {
        const isNeeded = needed > 0
        if (isNeeded) needed -= holder.taken
        return isNeeded
      })
    if (needed > 0) return false
    for (const { holder } of ended) {
      giveBack(holder)
      holder.waiter.endForOthers()
    }
    return true
  }

  const full: Quota["full"] = (key, weight) => {
    const share = (shares.get(key) ?? 0) + weight
    if (share > own) return "own"
    if (key === mainAccount || makesRoom(share, weight)) return undefined
    watched?.refused()
    return "all"
  }

  const take: Quota["take"] = (key, weight = 1) => {
    const none = full(key, weight)
    if (none !== undefined) return none
    add(key, weight)
    if (weight > 0 && key !== mainAccount) watched?.granted()
    return undefined
  }

  const hold: Quota["hold"] = (key, weight = 1, waiter) =>
    Effect.suspend(() => {
      const holder = { key, taken: 0, waiter: waiter ?? waitsForNobody }
      const takeMore = (further: number) => {
        const none = take(key, further)
        if (none === undefined) holder.taken += further
        return none
      }
      const begin = Effect.suspend(() => {
        const none = takeMore(weight)
        if (none !== undefined) return Effect.fail(none)
        if (waiter !== undefined) holders.add(holder)
        return Effect.succeed(takeMore)
      })
      return Effect.acquireRelease(begin, () => Effect.sync(() => giveBack(holder)))
    })

  return { take, full, hold, held: () => sum }
}

const waitsForNobody: Waiter = { waitsSince: () => undefined, endForOthers: () => {} }
