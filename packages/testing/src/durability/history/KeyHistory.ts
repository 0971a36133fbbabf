/**
 * What several clients wrote to and read from each key at the same time, and whether one register for each key explains
 * it: what was acknowledged is visible until something else is written, what failed never is, and what nobody knows the
 * outcome of may be or not.
 */

export type Outcome = "ok" | "unknown" | "failed"

interface Write {
  /** Unique among all writes; `undefined` for a deletion. */
  readonly value: string | undefined
  readonly started: number
  /** Never, unless it was acknowledged: it may take effect later. */
  ended: number
  outcome: Outcome
}

interface Read {
  readonly value: string | undefined
  readonly started: number
  readonly ended: number
}

interface Register {
  readonly writes: Array<Write>
  readonly reads: Array<Read>
}

export interface KeyHistory {
  /** Begins a write, and gives what ends it. */
  readonly write: (key: string, value: string | undefined) => (outcome: Outcome) => void
  /** Begins a read, and gives what ends it. */
  readonly read: (key: string) => (value: string | undefined) => void
  /** The reads that nothing explains. */
  readonly issues: () => ReadonlyArray<string>
}

/** A read of a write that another one had replaced before the read began, or that never happened. */
const isExplained = ({ ended, started, value }: Read, writes: ReadonlyArray<Write>): boolean =>
  writes.some(
    (write) =>
      write.outcome !== "failed" &&
      write.value === value &&
      write.started <= ended &&
      !writes.some((later) => later.outcome === "ok" && write.ended < later.started && later.ended < started)
  )

/** The history from a moment on at which nothing was under way and the keys had these values. */
export const makeHistory = (initial: ReadonlyMap<string, string>, now: () => number): KeyHistory => {
  const registers = new Map<string, Register>()
  const registerOf = (key: string): Register => {
    const known = registers.get(key)
    if (known !== undefined) return known
    const first: Write = { value: initial.get(key), started: -Infinity, ended: -Infinity, outcome: "ok" }
    const register: Register = { writes: [first], reads: [] }
    registers.set(key, register)
    return register
  }
  return {
    write: (key, value) => {
      const write: Write = { value, started: now(), ended: Infinity, outcome: "unknown" }
      registerOf(key).writes.push(write)
      return (outcome) => {
        write.outcome = outcome
        if (outcome === "ok") write.ended = now()
      }
    },
    read: (key) => {
      const started = now()
      return (value) => registerOf(key).reads.push({ value, started, ended: now() })
    },
    issues: () =>
      [...registers].flatMap(([key, { reads, writes }]) =>
        reads
          .filter((read) => !isExplained(read, writes))
          .map((read) => {
            const near = writes.filter(({ ended, started }) => started <= read.ended && ended >= read.started - 1000)
            return `${key}: ${JSON.stringify(read)} among ${JSON.stringify(near)}`
          })
      )
  }
}
