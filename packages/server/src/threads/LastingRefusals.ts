/** Bounds that have left no room for anybody for long, which the log and readiness then say. (docs/limits.md) */
import { Context } from "effect"

/** What is told of a bound of all accounts together. */
export interface WatchedBound {
  /** An account got something. */
  readonly granted: () => void
  /** An account was refused that has not used up its own share. */
  readonly refused: () => void
}

/** The bounds of a service. */
export interface LastingRefusals {
  /** Watches a bound. `what` is what it refuses, in the plural. */
  readonly watch: (what: string) => WatchedBound
  /** What is refused to all now, and has been for long. */
  readonly lasting: () => ReadonlyArray<string>
}

/** The bounds of the service that is built (default: none are watched). A reference, since bounds are made in many places. */
export const LastingRefusals = Context.Reference<LastingRefusals | undefined>("@roster/server/LastingRefusals", {
  defaultValue: () => undefined
})

/** What to say about bounds that have refused for long. */
export const lastingText = (what: ReadonlyArray<string>): string =>
  `The service has refused all ${what.join(" and ")} for more than a minute.`

/** A bound that refused nobody for so many milliseconds is not known to be full. */
const forgottenAfter = 60_000

/** Makes the watch over bounds. A bound counts once it has refused for so many milliseconds and granted nothing. */
export const makeLastingRefusals = (report: (text: string) => void, after: number): LastingRefusals => {
  const bounds = new Map<string, { since: number; last: number; reported: number }>()
  return {
    watch: (what) => ({
      granted: () => void bounds.delete(what),
      refused: () => {
        const now = performance.now()
        let bound = bounds.get(what)
        if (bound === undefined || now - bound.last > forgottenAfter) {
          bound = { since: now, last: now, reported: -Infinity }
          bounds.set(what, bound)
        }
        bound.last = now
        if (now - bound.since <= after || now - bound.reported <= forgottenAfter) return
        bound.reported = now
        report(lastingText([what]))
      }
    }),
    lasting: () => {
      const now = performance.now()
      return [...bounds].flatMap(([what, { last, since }]) =>
        last - since > after && now - last <= forgottenAfter ? [what] : []
      )
    }
  }
}
