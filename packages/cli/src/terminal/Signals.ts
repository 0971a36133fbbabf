/** SIGINT and SIGTERM. A signal interrupts a command (exit code 130 or 143), unless the command waits for it here. */
import { Context, Deferred, Effect } from "effect"

export class Signals extends Context.Service<
  Signals,
  {
    /** Stops signals from interrupting, and returns an effect that waits for the first one. */
    readonly expect: Effect.Effect<Effect.Effect<void>>
  }
>()("@roster/cli/Signals") {}

/** The service, what the process calls on a signal with its exit code, and the code of the signal that came first. */
export const make = () => {
  let expected: Deferred.Deferred<void> | undefined
  let received: number | undefined
  const service: Signals["Service"] = {
    expect: Effect.sync(() => {
      expected = Deferred.makeUnsafe<void>()
      return Deferred.await(expected)
    })
  }
  return {
    service,
    received: () => received,
    /** Notes a signal, and says whether a command waits for it. */
    deliver: (code: number): boolean => {
      received = code
      if (expected === undefined) return false
      Deferred.doneUnsafe(expected, Effect.void)
      return true
    }
  }
}
