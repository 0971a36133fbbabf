/**
 * Being told to stop. A signal interrupts a command, which cleans up and ends with 130 or 143; a command that runs until it
 * is told waits for the signal here, and ends as it likes.
 */
import { Context, Deferred, Effect } from "effect"

export class Signals extends Context.Service<
  Signals,
  {
    /** From here on no signal interrupts: the first SIGINT or SIGTERM ends the wait that this gives. */
    readonly expect: Effect.Effect<Effect.Effect<void>>
  }
>()("@roster/cli/Signals") {}

/** The service, and the end of it that the process calls: it says whether anybody waits. */
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
