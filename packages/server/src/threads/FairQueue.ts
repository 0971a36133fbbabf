/** Fair queues: one task or a few run, or some places are taken, at a time, round-robin over the accounts. */
import { type Context, Effect, type Fiber, type Scope } from "effect"
import { idly } from "./Background.ts"
import { monotonicMillis, yieldToEventLoop } from "./Slices.ts"

/** What waits, by account. */
const makeQueue = <A>() => {
  /** The account that is first is the next one. */
  const waiting = new Map<string, Array<A>>()
  return {
    add: (account: string, item: A): void => {
      const items = waiting.get(account)
      if (items === undefined) waiting.set(account, [item])
      else items.push(item)
    },
    /** The first one of the next account that may have a turn, which goes behind all others. */
    take: (may: (account: string) => boolean = () => true): readonly [account: string, item: A] | undefined => {
      for (const [account, [first, ...others]] of waiting) {
        if (first === undefined || !may(account)) continue
        waiting.delete(account)
        if (others.length > 0) waiting.set(account, others)
        return [account, first]
      }
      return undefined
    },
    remove: (account: string, item: A): void => {
      const others = (waiting.get(account) ?? []).filter((other) => other !== item)
      if (others.length > 0) waiting.set(account, others)
      else waiting.delete(account)
    }
  }
}

interface Turn {
  /** Since when, in milliseconds, it is held; `undefined` if it is not. */
  heldSince: number | undefined
  timer?: Fiber.Fiber<void>
  begin: () => void
}

export interface FairQueue {
  /** Runs a task of an account when it is its turn; `pause` lets the next task run. */
  readonly run: <A, E, R>(
    account: string,
    work: (pause: Effect.Effect<void>) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
  /** How many wait for their turn or run, longer than their turn or not. */
  readonly held: () => number
}

/** Makes a queue. The next task begins when one before it has ended or pauses. */
export const make = ({
  atOnce = 1,
  longestTurn
}: {
  /** How many tasks run at one time (default: 1). */
  readonly atOnce?: number
  /** Milliseconds after which the next task begins while one waits for something else (default: never). */
  readonly longestTurn?: number
} = {}): FairQueue => {
  const queue = makeQueue<Turn>()
  let running = 0
  let held = 0

  const next = () => {
    while (running < atOnce) {
      const first = queue.take()
      if (first === undefined) return
      const [, turn] = first
      running++
      turn.begin()
    }
  }

  /**
   * Ends a turn. Before the next one begins, the event loop turns once for each millisecond that the task took: it accepts one
   * connection each time.
   */
  const give = (turn: Turn): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { heldSince, timer } = turn
      if (heldSince === undefined) return
      turn.heldSince = undefined
      timer?.interruptUnsafe()
      for (let held = monotonicMillis() - heldSince; held > 0; held--) yield* yieldToEventLoop
      running--
      next()
    })

  const run: FairQueue["run"] = (account, work) =>
    Effect.contextWith((context: Context.Context<never>) => {
      // Nobody waits while a turn is given.
      const inBackground = Effect.runForkWith(context)
      const turn: Turn = { heldSince: undefined, begin: () => undefined }
      const take = Effect.callback<void>((resume) => {
        turn.begin = () => {
          turn.heldSince = monotonicMillis()
          if (longestTurn !== undefined) {
            turn.timer = inBackground(
              idly(
                Effect.delay(
                  Effect.suspend(() => {
                    // It does not interrupt itself.
                    delete turn.timer
                    return give(turn)
                  }),
                  longestTurn
                )
              )
            )
          }
          resume(Effect.void)
        }
        queue.add(account, turn)
        next()
      })
      const pause = Effect.suspend(() => {
        inBackground(give(turn))
        return take
      })
      const leave = Effect.sync(() => {
        held--
        if (turn.heldSince === undefined) queue.remove(account, turn)
        inBackground(give(turn))
      })
      held++
      return Effect.ensuring(
        Effect.andThen(
          take,
          Effect.suspend(() => work(pause))
        ),
        leave
      )
    })

  return { run, held: () => held }
}

export interface Places {
  /** Takes a place for an account until the scope ends, when it is its turn. */
  readonly take: (account: string) => Effect.Effect<void, never, Scope.Scope>
}

/**
 * Makes so many places, of which an account holds so many at most (default: all). Who holds one waits for others, so that
 * it takes no time of the event loop.
 */
export const makePlaces = (count: number, own = count): Places => {
  const queue = makeQueue<{ isHeld: boolean; begin: () => void }>()
  const shares = new Map<string, number>()
  let free = count

  const add = (account: string, change: 1 | -1): void => {
    const share = (shares.get(account) ?? 0) + change
    if (share === 0) shares.delete(account)
    else shares.set(account, share)
    free -= change
  }

  const next = () => {
    for (;;) {
      if (free === 0) return
      const given = queue.take((account) => (shares.get(account) ?? 0) < own)
      if (given === undefined) return
      const [account, place] = given
      add(account, 1)
      place.isHeld = true
      place.begin()
    }
  }

  const take: Places["take"] = (account) =>
    Effect.suspend(() => {
      const place = { isHeld: false, begin: () => {} }
      const leave = Effect.sync(() => {
        if (place.isHeld) add(account, -1)
        else queue.remove(account, place)
        next()
      })
      const wait = Effect.callback<void>((resume) => {
        place.begin = () => resume(Effect.void)
        queue.add(account, place)
        next()
      })
      // Before the wait, which may be interrupted when the place has been given.
      return Effect.andThen(
        Effect.addFinalizer(() => leave),
        wait
      )
    })

  return { take }
}
