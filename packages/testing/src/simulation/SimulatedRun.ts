/** One run of a simulation: its faults, its callers at once, and its invariant. */
import { type FaultPlan, Simulator } from "@roster/domain"
import { Array as Arr, Cause, Clock, Effect, Exit, Fiber, Layer, Random, Record, Tracer } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { seededRandom } from "./LongRun.ts"
import { type Choices, makeCourse } from "./SeededRuntime.ts"

/** How each program ended, by its name. */
export type Exits<Results> = { readonly [Name in keyof Results]: Exit.Exit<Results[Name], unknown> }

/** What runs at once, on what, and what must hold. */
export interface Simulation<Results, Services, LayerError = never> {
  /** Makes the services of one run, with the faults of its seed: `FaultPlan.layer`, or those of an embedded service. */
  readonly layer: (faults: FaultPlan.FaultPlan) => Layer.Layer<Services, LayerError>
  /** The programs that run at once, by their names. */
  readonly callers: { readonly [Name in keyof Results]: Effect.Effect<Results[Name], unknown, NoInfer<Services>> }
  /** What may go wrong with the first calls of an operation, a fault for some of them (default: nothing). */
  readonly faults?: { readonly [Operation in FaultPlan.Operation]?: ReadonlyArray<FaultPlan.Fault> } | undefined
  /** Whether some seeds interrupt a caller at one of its marks, and run it again (default: false). */
  readonly interruptions?: boolean | undefined
  /** The marks that its seeds should reach; the report says which of them none has (default: none). */
  readonly marks?: ReadonlyArray<string> | undefined
  /** Fails, or throws, if the ends of the callers and what is left contradict a promise. It meets no faults. */
  readonly invariant: (exits: Exits<NoInfer<Results>>) => Effect.Effect<unknown, unknown, NoInfer<Services>>
}

/** A run: of a seed, or what is left of one. */
export interface Order {
  readonly seed: number
  /** The choices in place of those of the seed, and the faults that are left. */
  readonly only?: (Choices & { readonly faults: ReadonlySet<string> }) | undefined
}

/** What became of a run. */
export interface Run {
  readonly problem: string | undefined
  /** Whether it reached a bound. */
  readonly isEndless: boolean
  readonly transcript: ReadonlyArray<string>
  readonly order: number
  readonly marks: ReadonlySet<string>
  /** All that differs from the first order without faults. */
  readonly steps: ReadonlyArray<string>
}

/** Calls of an operation that may meet a fault. */
const faultyCalls = 6

/** How many of them do. */
const faultShare = 0.25

/** The faults of a seed, each as the operation and the number of its call. */
const drawFaults = (
  faults: NonNullable<Simulation<object, unknown>["faults"]>,
  seed: number
): ReadonlyArray<readonly [step: string, operation: string, call: number, fault: FaultPlan.Fault]> => {
  // Another sequence than that of the order.
  const random = seededRandom(~seed)
  // Some seeds have no faults.
  const share = random() < 0.25 ? 0 : faultShare
  return Object.entries(faults).flatMap(([operation, kinds = []]) =>
    Arr.range(1, faultyCalls).flatMap((call) => {
      const [isFaulty, kind] = [random() < share, kinds[Math.floor(random() * kinds.length)]]
      return isFaulty && kind !== undefined ? [[`${operation}#${call}`, operation, call, kind] as const] : []
    })
  )
}

const stepText = /^(?:y(\d+)|p(\d+):(\d+)|(\w+\.\w+#\d+))$/

/** Reads the text of a failure. */
export const parseOrder = (text: string): Order => {
  const [seed = "", ...steps] = text.trim().split(/\s+/)
  const read = steps.map((step) => stepText.exec(step))
  if (!/^\d+!?$/.test(seed) || read.includes(null)) {
    throw new Error(`"${text}" is no order: give the text that a failure printed, or a seed`)
  }
  if (steps.length === 0 && !seed.endsWith("!")) return { seed: Number(seed) }
  return { seed: Number.parseInt(seed, 10), only: choicesOf(steps) }
}

export const choicesOf = (steps: ReadonlyArray<string>): NonNullable<Order["only"]> => {
  const [yields, picks, faults] = [new Set<number>(), new Map<number, number>(), new Set<string>()]
  for (const step of steps) {
    const [, yielded, picked, place, fault] = stepText.exec(step) ?? []
    if (yielded !== undefined) yields.add(Number(yielded))
    else if (fault !== undefined) faults.add(fault)
    else picks.set(Number(picked), Number(place))
  }
  return { yields, picks, faults }
}

/** Carries out one run. */
export const runOnce = <Results, Services, LayerError>(
  { callers, faults = {}, interruptions = false, invariant, layer }: Simulation<Results, Services, LayerError>,
  { only, seed }: Order
): Effect.Effect<Run> =>
  Effect.callback<Run>((resume) => {
    const drawn = drawFaults(faults, seed).filter(([step]) => only === undefined || only.faults.has(step))
    const plan: Record<string, Record<string, FaultPlan.Fault>> = {}
    for (const [, operation, call, fault] of drawn) (plan[operation] ??= {})[call] = fault
    const end = (problem: string | undefined, isEndless = false) => {
      course.end()
      const { picks, yields } = course.taken
      const steps = [
        ...drawn.map(([step]) => step),
        ...Array.from(yields, (step) => `y${step}`),
        ...Array.from(picks, ([number, place]) => `p${number}:${place}`)
      ]
      resume(
        Effect.succeed({
          problem,
          isEndless,
          transcript: course.transcript,
          order: course.order(),
          marks: course.marks,
          steps
        })
      )
    }
    const course = makeCourse(seed, only, end)
    /** Runs a caller, and once more if it is interrupted at a mark. */
    const running = <A, E, R>(name: string, caller: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        let isInterrupted = false
        const interrupt = (own: Fiber.Fiber<unknown, unknown>) =>
          Effect.suspend(() => {
            if (!interruptions || isInterrupted) return Effect.void
            isInterrupted = true
            // By a fiber of its own: one that interrupts the fiber that waits for it would not be waited for.
            return Effect.forkDetach(Fiber.interrupt(own))
          })
        const fiber = yield* Effect.forkChild(
          Effect.withFiber((own) =>
            Effect.provideService(Effect.withSpan(caller, name), Simulator, course.simulatorFor(interrupt(own)))
          )
        )
        const exit = yield* Fiber.await(fiber)
        // The flag is set while it runs.
        const runsAgain = (isInterrupted as boolean) && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
        return runsAgain ? yield* Effect.exit(Effect.withSpan(caller, name)) : exit
      })
    const program = Effect.gen(function* () {
      const services = yield* Layer.build(layer(plan))
      course.vary(true)
      const ended = yield* Effect.forEach(
        Record.toEntries<string, Effect.Effect<unknown, unknown, Services>>(callers),
        ([name, caller]) =>
          Effect.map(running(name, Effect.provideContext(caller, services)), (exit) => [name, exit] as const),
        { concurrency: "unbounded" }
      )
      course.vary(false)
      // The plan is read at each call.
      for (const operation of Object.keys(plan)) delete plan[operation]
      for (const [name, exit] of ended) {
        if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) {
          return yield* Effect.die(new Error(`${name} died: ${Cause.pretty(exit.cause)}`))
        }
      }
      // The names and ends are those of the callers.
      const exits = Record.fromEntries(ended) as Exits<Results>
      yield* Effect.provideContext(invariant(exits), services)
    }).pipe(
      Effect.scoped,
      Random.withSeed(seed),
      Effect.provideService(Clock.Clock, course.clock),
      Effect.provideService(WebCrypto, course.crypto),
      Effect.provideService(Simulator, course.simulatorFor(Effect.void)),
      Effect.provideService(Tracer.Tracer, course.tracer)
    )
    const fiber = Effect.runFork(program, { scheduler: course.scheduler })
    fiber.addObserver((exit) => end(Exit.isSuccess(exit) ? undefined : Cause.pretty(exit.cause)))
    return Effect.sync(course.end)
  })
