/**
 * Limits of time for many effects at once. `Effect.timeout` forks two fibers and sets a timer for each; here all that is
 * under way by one clock shares one fiber that sleeps until the first limit, which in a busy client nothing reaches.
 */
import { Clock, Duration, Effect, Exit, Fiber } from "effect"

interface Limit {
  /** When, in milliseconds of a clock that never jumps. */
  readonly at: number
  readonly expire: () => void
  /** Its place among those that are watched. */
  index: number
}

class Watch {
  readonly #clock: Clock.Clock
  // Not a set: what is deleted from one that lives long is kept until the next full collection of garbage.
  readonly #limits: Array<Limit> = []
  #sleeper: Fiber.Fiber<void> | undefined
  #wakes = Number.POSITIVE_INFINITY
  #looking = false

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  add(milliseconds: number, expire: () => void): Limit {
    const limit = { at: this.#now() + milliseconds, expire, index: this.#limits.length }
    this.#limits.push(limit)
    if (limit.at < this.#wakes) this.#sleep(limit.at)
    return limit
  }

  /** Nothing sleeps for long where nothing is under way: that would keep the process alive. */
  remove(limit: Limit): void {
    const last = this.#limits[limit.index] === limit ? this.#limits.pop() : undefined
    if (last === undefined) return
    if (last !== limit) this.#limits[(last.index = limit.index)] = last
    if (this.#limits.length > 0 || this.#looking) return
    // Whoever makes one call after another has the next one under way by then.
    this.#looking = true
    setTimeout(() => {
      this.#looking = false
      if (this.#limits.length === 0) this.#rest()
    }, 1)
  }

  #now(): number {
    return Number(this.#clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  }

  #sleep(at: number): void {
    this.#rest()
    this.#wakes = at
    this.#sleeper = Effect.runFork(
      Effect.andThen(
        this.#clock.sleep(Duration.millis(at - this.#now())),
        Effect.sync(() => this.#wake())
      )
    )
  }

  #rest(): void {
    this.#sleeper?.interruptUnsafe()
    this.#sleeper = undefined
    this.#wakes = Number.POSITIVE_INFINITY
  }

  #wake(): void {
    const now = this.#now()
    this.#sleeper = undefined
    this.#wakes = Number.POSITIVE_INFINITY
    for (const limit of this.#limits.filter(({ at }) => at <= now)) limit.expire()
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.#limits) if (at > now) next = Math.min(next, at)
    if (next < this.#wakes) this.#sleep(next)
  }
}

const watches = new WeakMap<Clock.Clock, Watch>()

const watchOf = (clock: Clock.Clock): Watch => {
  const watch = watches.get(clock) ?? new Watch(clock)
  watches.set(clock, watch)
  return watch
}

/**
 * Bounds an effect that can be told to end, and then fails: what it fails with is replaced. It needs no fiber of its own.
 */
export const withTimeout = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  limit: Duration.Duration,
  end: () => void,
  late: () => E
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const watch = watchOf(fiber.getRef(Clock.Clock))
    let expired = false
    const watched = watch.add(Duration.toMillis(limit), () => {
      expired = true
      end()
    })
    const unwatched = Effect.ensuring(
      effect,
      Effect.sync(() => watch.remove(watched))
    )
    return Effect.mapError(unwatched, (error) => (expired ? late() : error))
  })

/** Interrupts an effect that takes longer, and fails instead once it has ended. */
export const within = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  limit: Duration.Duration,
  late: () => E
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkChild(effect, { startImmediately: true }), (child) =>
    Effect.withFiber((fiber) => {
      const exit = child.pollUnsafe()
      if (exit !== undefined) return exit
      const watch = watchOf(fiber.getRef(Clock.Clock))
      let expired = false
      return Effect.callback<A, E>((resume) => {
        const watched = watch.add(Duration.toMillis(limit), () => {
          expired = true
          child.interruptUnsafe()
        })
        child.addObserver((exit) => {
          watch.remove(watched)
          resume(expired && Exit.hasInterrupts(exit) ? Effect.fail(late()) : exit)
        })
        return Fiber.interrupt(child)
      })
    })
  )
