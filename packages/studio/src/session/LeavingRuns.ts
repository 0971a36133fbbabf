/** Runs that the service records are left with the page, so that they go on at once when it is opened again. */
import type { Run, RunLog } from "@roster/workflows"
import { Effect, Redacted, type Scope } from "effect"

/** A log whose runs are left as the page goes away, when no program of it ends in order. */
export const leavingWithPage = (
  log: RunLog["Service"],
  { baseUrl, key }: { readonly baseUrl: string; readonly key: Redacted.Redacted<string> }
): RunLog["Service"] => {
  const left = <E>(opening: Effect.Effect<Run, E, Scope.Scope>) =>
    Effect.tap(opening, ({ header, takesEntries }) => {
      if (takesEntries) return Effect.void
      const leave = () => {
        const call = fetch(`${baseUrl}/runs/${header.id}/end?resumable=true`, {
          method: "POST",
          headers: { "x-service-apikey": Redacted.value(key) },
          credentials: "omit",
          keepalive: true
        })
        // Nobody is there to hear of it, and the run is free in a minute.
        call.catch(() => undefined)
      }
      return Effect.acquireRelease(
        Effect.sync(() => globalThis.addEventListener?.("pagehide", leave)),
        () => Effect.sync(() => globalThis.removeEventListener?.("pagehide", leave))
      )
    })
  return {
    ...log,
    open: (options) => left(log.open(options)),
    read: (id) => Effect.map(log.read(id), (run) => ({ ...run, beginUndo: (part) => left(run.beginUndo(part)) }))
  }
}
