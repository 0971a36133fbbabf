/**
 * Work that would keep the event loop for long, in slices between which others are answered. In a simulation its scheduler
 * decides when a slice ends and who goes on, in place of the clock and the event loop.
 */
import { Simulator } from "@roster/domain"
import { Clock, Effect, Fiber } from "effect"
import { setImmediate } from "node:timers"
import { setImmediate as turned } from "node:timers/promises"

/** The time, in milliseconds, after which work lets others go on. */
export const sliceMillis = 5

const isSimulated = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.getRef(Simulator) !== undefined

/** Milliseconds of a clock that only goes forward. */
export const monotonicMillis = (): number => {
  const fiber = Fiber.getCurrent()
  return fiber !== undefined && isSimulated(fiber)
    ? Number(fiber.getRef(Clock.Clock).monotonicTimeNanosUnsafe()) / 1e6
    : performance.now()
}

/** Yields to the event loop, so that other work runs. */
export const yieldToEventLoop: Effect.Effect<void> = Effect.withFiber((fiber) =>
  isSimulated(fiber) ? Effect.yieldNow : Effect.promise(() => turned())
)

/** Carries an effect out in the background, once the event loop has turned. */
export const afterTurn = (effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    isSimulated(fiber)
      ? Effect.asVoid(Effect.forkDetach(Effect.andThen(Effect.yieldNow, effect)))
      : Effect.sync(() => void setImmediate(() => Effect.runFork(effect)))
  )

/** Begins a slice of so many milliseconds, and gives what says whether it has taken its time. */
export const beginSlice = (millis = sliceMillis): Effect.Effect<() => boolean> =>
  Effect.withFiber((fiber) => {
    if (isSimulated(fiber)) return Effect.succeed(() => fiber.cache.scheduler.shouldYield(fiber))
    const end = performance.now() + millis
    return Effect.succeed(() => performance.now() > end)
  })

/** Carries out steps, and yields to the event loop whenever a slice of them has taken its time. */
export const inSlices = <A>(steps: () => Generator<void, A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const remaining = steps()
    const slice: Effect.Effect<A> = Effect.flatMap(beginSlice(), (isOver) => {
      for (;;) {
        const step = remaining.next()
        if (step.done === true) return Effect.succeed(step.value)
        if (isOver()) return Effect.andThen(yieldToEventLoop, slice)
      }
    })
    return slice
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
