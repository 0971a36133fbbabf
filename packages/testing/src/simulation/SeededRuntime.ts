/**
 * What decides the course of one simulated run: which fiber goes on, where a fiber yields, and how late it is. Time stands
 * still while anything can run, and then jumps to the next sleeper.
 */
import { Cause, type Clock, Duration, Effect, Exit, Option, Predicate, type Scheduler, Tracer } from "effect"
import type { Simulator } from "@roster/domain"
import { seededRandom } from "./LongRun.ts"

/** What a run takes instead of the first of the tasks and of going on, by the number of the choice. */
export interface Choices {
  /** The steps before which a fiber yields. */
  readonly yields: ReadonlySet<number>
  /** Which of the tasks goes on, where it is not the first. */
  readonly picks: ReadonlyMap<number, number>
}

/** How often a fiber yields, of which a seed takes one: coarse orders find other faults than fine ones. */
const yieldShares = [0, 0.01, 0.05, 0.25]

/** The bounds of a run, so that one that never ends fails. */
const mostTasks = 500_000
const mostJumps = 3000

/** Turns of the event loop without a task after which nothing can run. */
const quietTurns = 8

/** What some seeds do to a program at a mark: it waits for milliseconds, or is interrupted. Most go on. */
const atMarks = [undefined, 1, 5000, "interrupted"] as const

/** Whether Node works outside of Effect, as on a file. Nothing goes on meanwhile, so that its pace decides nothing. */
const isBusyOutside = (): boolean => process.getActiveResourcesInfo().some((name) => /req|zlib|job/i.test(name))

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

const callerOf = (span: Tracer.AnySpan): string =>
  span._tag === "Span" ? Option.match(span.parent, { onNone: () => span.name, onSome: callerOf }) : ""

/** How a span ended, without texts that the exit may hold. */
const outcomeOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "done"
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  const error = Cause.squash(exit.cause)
  const reason = Predicate.hasProperty(error, "reason") ? error.reason : error
  if (Predicate.hasProperty(reason, "_tag")) return String(reason._tag)
  return Predicate.isError(error) ? error.name : "failed"
}

/** A span that writes its begin and its end into a transcript, but for statements and requests, the inside of a call. */
class Line extends Tracer.NativeSpan {
  readonly #write: (what: string) => void

  constructor(options: ConstructorParameters<typeof Tracer.NativeSpan>[0], write: (line: string) => void) {
    super(options)
    const { kind, name } = options
    const caller = callerOf(this)
    const isShown = caller !== name && kind === "internal" && !name.startsWith("sql.")
    this.#write = (what) => (isShown ? write(`${caller}: ${name} ${what}`) : undefined)
    this.#write("begins")
  }

  override end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    super.end(endTime, exit)
    this.#write(outcomeOf(exit))
  }
}

/** The random bytes of a seed, of which the store and the clients make ids, keys and secrets. */
const seededCrypto = (seed: number): Crypto => {
  const random = seededRandom(seed)
  const getRandomValues: Crypto["getRandomValues"] = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    bytes.forEach((_, at) => (bytes[at] = random() * 256))
    return array
  }
  const randomUUID: Crypto["randomUUID"] = () => {
    const hex = Buffer.from(getRandomValues(new Uint8Array(16))).toString("hex")
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  return { subtle: globalThis.crypto.subtle, getRandomValues, randomUUID }
}

/** The course of one run. */
export interface Course {
  readonly scheduler: Scheduler.Scheduler
  readonly clock: Clock.Clock
  readonly tracer: Tracer.Tracer
  readonly crypto: Crypto
  /** The simulation as a caller sees it, which it may interrupt. */
  readonly simulatorFor: (interrupt: Effect.Effect<unknown>) => Simulator
  /** Whether the order varies; otherwise it is Effect's own. */
  readonly vary: (does: boolean) => void
  /** Ends the run, which leaves what still waits. */
  readonly end: () => void
  /** A line for each call that begins or ends while the order varies, with its time. */
  readonly transcript: Array<string>
  /** The marks that it has reached. */
  readonly marks: Set<string>
  /** What differed from the first order. */
  readonly taken: { readonly yields: Set<number>; readonly picks: Map<number, number> }
  /** A digest of the picks among more than one task. */
  readonly order: () => number
}

/** Makes the course of a run: of a seed, or of given choices. */
export const makeCourse = (
  seed: number,
  choices: Choices | undefined,
  onStuck: (why: string, isEndless: boolean) => void
): Course => {
  const random = seededRandom(seed)
  const share = yieldShares[Math.floor(random() * yieldShares.length)] ?? 0
  const taken = { yields: new Set<number>(), picks: new Map<number, number>() }
  const transcript: Array<string> = []
  const tasks = new Map<number, Array<() => void>>()
  let sleepers: ReadonlyArray<Sleeper> = []
  let [now, steps, picked, ran, jumps, quiet, order] = [0, 0, 0, 0, 0, 0, 0x811c9dc5]
  let [isVarying, isDue, isOver] = [false, false, false]

  const yields = (): boolean => {
    if (!isVarying) return false
    const step = steps++
    const does = choices === undefined ? share > 0 && random() < share : choices.yields.has(step)
    if (does) taken.yields.add(step)
    return does
  }

  const pick = (count: number): number => {
    if (!isVarying || count === 1) return 0
    const number = picked++
    const place =
      choices === undefined ? Math.floor(random() * count) : Math.min(choices.picks.get(number) ?? 0, count - 1)
    if (place > 0) taken.picks.set(number, place)
    order = Math.imul(order ^ (count * 64 + place), 0x01000193) >>> 0
    return place
  }

  const marks = new Set<string>()
  const simulatorFor = (interrupt: Effect.Effect<unknown>): Simulator => ({
    sometimes: (mark) =>
      Effect.suspend(() => {
        if (!isVarying) return Effect.void
        marks.add(mark)
        const does = atMarks[pick(4 * atMarks.length)]
        if (does !== "interrupted") return does === undefined ? Effect.void : Effect.sleep(does)
        // Where it may be interrupted, it ends here.
        return Effect.andThen(interrupt, Effect.sleep(1))
      })
  })

  const stop = (why: string, isEndless = true) => {
    isOver = true
    onStuck(why, isEndless)
  }

  const jump = () => {
    const next = Math.min(...sleepers.map(({ at }) => at))
    if (next === Infinity) return stop("all callers wait, and nothing will wake them", false)
    if (++jumps > mostJumps) return stop(`it had not ended after ${Duration.format(Duration.millis(now))} of its clock`)
    now = next
    const due = sleepers.filter(({ at }) => at <= now)
    sleepers = sleepers.filter(({ at }) => at > now)
    for (const { wake } of due) schedule(wake, 0)
  }

  const turn = () => {
    isDue = false
    if (isOver) return
    if (isBusyOutside()) {
      quiet = 0
      return wake()
    }
    const priority = Math.min(...tasks.keys())
    const ready = tasks.get(priority)
    if (ready === undefined) {
      if (++quiet > quietTurns) {
        quiet = 0
        jump()
      }
    } else {
      quiet = 0
      const [task] = ready.splice(pick(ready.length), 1)
      if (ready.length === 0) tasks.delete(priority)
      if (++ran > mostTasks) return stop(`it had not ended after ${mostTasks} tasks`)
      task?.()
    }
    wake()
  }

  // One task in each turn of the event loop, so that promises of the one before have settled.
  const wake = () => {
    if (isDue || isOver) return
    isDue = true
    setImmediate(turn)
  }

  const schedule = (task: () => void, priority: number) => {
    const ready = tasks.get(priority)
    if (ready === undefined) tasks.set(priority, [task])
    else ready.push(task)
    wake()
  }

  const write = (line: string) => {
    if (isVarying) transcript.push(`${String(now / 1000).padStart(8)} s  ${line}`)
  }

  const nanos = () => BigInt(now) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const sleeper = {
          at: now + Math.max(0, Math.ceil(Duration.toMillis(duration))),
          wake: () => resume(Effect.void)
        }
        sleepers = [...sleepers, sleeper]
        wake()
        return Effect.sync(() => {
          sleepers = sleepers.filter((other) => other !== sleeper)
        })
      })
  }

  return {
    scheduler: {
      executionMode: "async",
      shouldYield: yields,
      makeDispatcher: () => ({ scheduleTask: schedule, flush: () => {} })
    },
    clock,
    tracer: Tracer.make({ span: (options) => new Line(options, write) }),
    // Another sequence than those of the order and of the faults.
    crypto: seededCrypto(seed ^ 0x5bd1e995),
    simulatorFor,
    marks,
    vary: (does) => {
      isVarying = does
      wake()
    },
    end: () => {
      isOver = true
    },
    transcript,
    taken,
    order: () => order
  }
}
