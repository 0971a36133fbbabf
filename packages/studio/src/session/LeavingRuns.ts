/** Runs that the service records are left with the page, so that they go on at once when it is opened again. */
import { RunLog } from "@roster/workflows"
import { Effect, Redacted } from "effect"
import { keyHeader } from "./Connection.ts"

/** A log whose runs are left as the page goes away, when no program of it ends in order. */
export const leavingWithPage = (
  log: RunLog["Service"],
  baseUrl: string,
  key: () => Redacted.Redacted<string>
): RunLog["Service"] =>
  RunLog.withOpened(
    log,
    Effect.tap(({ header, takesEntries }) => {
      if (takesEntries) return Effect.void
      const leave = () => {
        const call = fetch(`${baseUrl}/runs/${header.id}/end?resumable=true`, {
          method: "POST",
          headers: { [keyHeader]: Redacted.value(key()) },
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
  )
