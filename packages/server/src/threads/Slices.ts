/** Work that would keep the event loop for long, in slices between which others are answered. */
import { Effect } from "effect"
import { setImmediate } from "node:timers/promises"

/** The time, in milliseconds, after which work lets others go on. */
export const sliceMillis = 5

/** Yields to the event loop, so that other work runs. */
export const yieldToEventLoop = Effect.promise(() => setImmediate())

/** Carries out steps, and yields to the event loop whenever a slice of them has taken its time. */
export const inSlices = <A>(steps: () => Generator<void, A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const remaining = steps()
    const slice = (): Effect.Effect<A> => {
      const end = performance.now() + sliceMillis
      for (;;) {
        const step = remaining.next()
        if (step.done === true) return Effect.succeed(step.value)
        if (performance.now() > end) return Effect.flatMap(yieldToEventLoop, slice)
      }
    }
    return slice()
  })

/** Does the same with each of many, a step for each. */
export const eachInSlices = <A, B>(
  items: Iterable<A>,
  work: (item: A, index: number) => B
): Effect.Effect<ReadonlyArray<B>> =>
  inSlices(function* () {
    const done: Array<B> = []
    for (const item of items) {
      done.push(work(item, done.length))
      yield
    }
    return done
  })
