/** What several clients did to each key at the same time, as they saw it. */
import { type KeyCall, unexplained } from "./Linearization.ts"

/** What a client knows of a write. */
export type Outcome = "ok" | "unknown" | "failed"

/** Calls that are noted. Each gives what ends it. */
export interface KeyHistory {
  /** A write of a value that is unique among all writes; `undefined` deletes. */
  readonly write: (key: string, value: string | undefined) => (outcome: Outcome) => void
  /** A write of a value, which succeeds only where nothing is. */
  readonly create: (key: string, value: string) => (outcome: Outcome) => void
  readonly read: (key: string) => (value: string | undefined) => void
  /** The calls that have been noted. */
  readonly size: () => number
  /** The keys whose calls nothing explains, each with the first such call and those beside it. */
  readonly issues: () => ReadonlyArray<string>
}

/** How many calls before the one without an explanation are told. */
const toldCalls = 12

const told = (key: string, calls: ReadonlyArray<KeyCall>, call: KeyCall): string => {
  const end = call.ended ?? Infinity
  const near = calls.filter(({ started }) => started <= end).sort((one, other) => one.started - other.started)
  return [
    `${key}: nothing explains ${JSON.stringify(call)} after`,
    ...near.slice(-toldCalls).map((one) => JSON.stringify(one))
  ].join("\n  ")
}

/** A call that may be under way. */
interface Noted {
  readonly kind: KeyCall["kind"]
  value: string | undefined
  readonly started: number
  ended: number | undefined
  /** Whether it explains anything, or has to be explained. */
  counts: boolean
}

/** The history of keys that hold nothing at first. */
export const makeHistory = (now: () => number): KeyHistory => {
  const noted = new Map<string, Array<Noted>>()
  let size = 0
  const note = (key: string, kind: KeyCall["kind"], value: string | undefined): Noted => {
    size++
    // A read counts once it has ended; a write at once, since others may see it before its client is told.
    const call: Noted = { kind, value, started: now(), ended: undefined, counts: kind !== "read" }
    const others = noted.get(key)
    if (others === undefined) noted.set(key, [call])
    else others.push(call)
    return call
  }
  const writing = (kind: "write" | "create") => (key: string, value: string | undefined) => {
    const call = note(key, kind, value)
    return (outcome: Outcome) => {
      if (outcome === "ok") call.ended = now()
      // What failed took no effect, so nobody may see it.
      call.counts = outcome !== "failed"
    }
  }
  return {
    write: writing("write"),
    create: writing("create"),
    read: (key) => {
      const call = note(key, "read", undefined)
      return (value) => {
        call.value = value
        call.ended = now()
        call.counts = true
      }
    },
    size: () => size,
    issues: () =>
      [...noted].flatMap(([key, all]) => {
        const calls: ReadonlyArray<KeyCall> = all.filter(({ counts }) => counts)
        const call = unexplained(calls)
        return call === undefined ? [] : [told(key, calls, call)]
      })
  }
}
