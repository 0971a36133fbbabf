/** SIGINT and SIGTERM. A signal interrupts a command (exit code 130 or 143), unless the command waits for it here. */
import { Context, Deferred, Effect } from "effect"

export class Signals extends Context.Service<
  Signals,
  {
    /** Stops signals from interrupting, and returns an effect that waits for the first one. */
    readonly expect: Effect.Effect<Effect.Effect<void>>
  }
>()("@roster/cli/Signals") {}

/** The service, and the function that the process calls on a signal: it returns whether a command waits for it. */
export const make = (): { readonly service: Signals["Service"]; readonly deliver: () => boolean } => {
  let expected: Deferred.Deferred<void> | undefined
  return {
    service: {
      expect: Effect.sync(() => {
        expected = Deferred.makeUnsafe<void>()
        return Deferred.await(expected)
      })
    },
    deliver: () => {
      if (expected === undefined) return false
      Deferred.doneUnsafe(expected, Effect.void)
      return true
    }
  }
}
