/**
 * A time limit for many effects: all under one clock share one sleeping fiber. `Effect.timeout` starts two fibers and a
 * timer for each, which costs 64 concurrent `get` 1.25 times the CPU (benchmarks/get).
 */
import { Clock, type Context, Duration, Effect, Exit, Fiber } from "effect"

interface Limit {
  /** Milliseconds of the monotonic clock. */
  readonly at: number
  expire: (() => void) | undefined
  /** Position in the array of open limits. */
  index: number
}

class Limits {
  readonly #clock: Clock.Clock
  // Not a set, whose deleted entries stay in memory until the next full garbage collection.
  readonly #open: Array<Limit> = []
  #sleeper: Fiber.Fiber<void> | undefined
  #wakesAt = Number.POSITIVE_INFINITY

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  add(duration: Duration.Duration, expire: () => void): Limit {
    const limit: Limit = { at: this.#now() + Duration.toMillis(duration), expire, index: this.#open.length }
    this.#open.push(limit)
    if (limit.at < this.#wakesAt) this.#sleepUntil(limit.at)
    return limit
  }

  /** Removes an open limit. The sleeper stops after the last one, since it would keep the process alive. */
  remove(limit: Limit): void {
    const last = this.#open.pop()
    if (last !== undefined && last !== limit) {
      last.index = limit.index
      this.#open[limit.index] = last
    }
    // A discarded backing array keeps its limits until the next full garbage collection.
    limit.expire = undefined
    if (this.#open.length === 0) this.#stop()
  }

  #now(): number {
    return Number(this.#clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  }

  #sleepUntil(at: number): void {
    this.#stop()
    this.#wakesAt = at
    const sleep = this.#clock.sleep(Duration.millis(at - this.#now()))
    this.#sleeper = Effect.runFork(Effect.map(sleep, () => this.#wake()))
  }

  #stop(): void {
    this.#sleeper?.interruptUnsafe()
    this.#sleeper = undefined
    this.#wakesAt = Number.POSITIVE_INFINITY
  }

  #wake(): void {
    this.#sleeper = undefined
    this.#wakesAt = Number.POSITIVE_INFINITY
    const now = this.#now()
    for (const limit of this.#open.filter(({ at }) => at <= now)) limit.expire?.()
    const next = this.#open.reduce((first, { at }) => (at > now ? Math.min(first, at) : first), this.#wakesAt)
    if (next < this.#wakesAt) this.#sleepUntil(next)
  }
}

const limitsByClock = new WeakMap<Clock.Clock, Limits>()

const limitsOf = (clock: Clock.Clock): Limits => {
  const limits = limitsByClock.get(clock) ?? new Limits(clock)
  limitsByClock.set(clock, limits)
  return limits
}

/** Runs an effect in a fiber with the given context, interrupts it after the time limit, and fails once it has ended. */
export const withTimeout = <A, E>(
  effect: Effect.Effect<A, E>,
  context: Context.Context<never>,
  duration: Duration.Duration,
  late: () => E
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const limits = limitsOf(fiber.getRef(Clock.Clock))
    // The child puts its result here, since an old fiber, and a page of contacts with it, is collected late.
    let result: Effect.Effect<A> = Effect.never
    const take = Effect.suspend(() => {
      const taken = result
      result = Effect.never
      return taken
    })
    const run = Effect.map(effect, (value) => {
      result = Effect.succeed(value)
    })
    const limited = Effect.callback<void, E>((resume) => {
      const child = Effect.runForkWith(context)(run)
      let expired = false
      const limit = limits.add(duration, () => {
        expired = true
        child.interruptUnsafe()
      })
      child.addObserver((exit) => {
        resume(expired && Exit.hasInterrupts(exit) ? Effect.fail(late()) : exit)
        // The caller may have made its next call by now, so that the sleeper is still needed.
        limits.remove(limit)
      })
      return Fiber.interrupt(child)
    })
    return Effect.andThen(limited, take)
  })
