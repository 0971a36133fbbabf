/**
 * Seeded simulation: programs run at once on fresh services, many times, and each seed decides which of their fibers goes
 * on, where one yields, how time passes and which calls fail. A seed that breaks the invariant repeats. (docs/testing.md)
 */
import { TaggedError } from "@roster/domain"
import { Array as Arr, Effect, Schema } from "effect"
import { choicesOf, type Order, parseOrder, type Run, runOnce, type Simulation } from "./SimulatedRun.ts"

/** Which runs. */
export interface SimulationOptions {
  /** The number of seeds (default: 100). */
  readonly seeds?: number | undefined
  /** The first seed (default: 1). */
  readonly firstSeed?: number | undefined
  /** One run in place of those: the text that a failure gave. */
  readonly repeat?: string | undefined
}

/** What was seen of the runs. */
export interface SimulationReport {
  /** The number of runs. */
  readonly runs: number
  /** The number of different orders in which fibers went on. */
  readonly orders: number
  /** How many of those orders the last hundred runs brought; with few new ones, more seeds find little. */
  readonly newOrders: number
  /** The marks that a run has reached, each `sometimes` of a program, in alphabetical order. */
  readonly marks: ReadonlyArray<string>
  /** The `marks` of the simulation that no run has reached: too few seeds, or a situation that cannot come about. */
  readonly unreachedMarks: ReadonlyArray<string>
}

/** A run broke the invariant, or did not end. */
export class SimulationFailed extends TaggedError<SimulationFailed>()("SimulationFailed", {
  /** Repeats the run, as the option of this name. It holds for this version of the programs. */
  repeat: Schema.String,
  /** What was broken. */
  problem: Schema.String,
  /** The calls of the run in their order, a line for each begin and each end. */
  transcript: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return [
      this.problem,
      "",
      ...this.transcript,
      "",
      `Repeat it with simulate(simulation, { repeat: ${JSON.stringify(this.repeat)} }).`
    ].join("\n")
  }
}

/** The runs in which a failing one is made smaller. */
const mostShrinks = 200

/** Leaves out what a failure does not need, in ever smaller parts. */
const shrink = Effect.fnUntraced(function* (seed: number, first: Run, run: (order: Order) => Effect.Effect<Run>) {
  let least = first
  let left = mostShrinks
  for (let size = first.steps.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < least.steps.length && left > 0; left--) {
      const fewer = [...least.steps.slice(0, from), ...least.steps.slice(from + size)]
      const shrunk = yield* run({ seed, only: choicesOf(fewer) })
      if (shrunk.problem === undefined) from += size
      else least = shrunk
    }
  }
  return least
})

/**
 * Runs programs at once on fresh services, once for each seed, and fails with the first run that breaks the invariant, made
 * as small as it can be. Time is simulated, so waits take none; programs that wait for something outside of Effect, such as
 * a socket, see real time stand still.
 */
export const simulate = Effect.fnUntraced(function* <Results, Services, LayerError>(
  simulation: Simulation<Results, Services, LayerError>,
  { firstSeed = 1, repeat, seeds = 100 }: SimulationOptions = {}
): Effect.fn.Return<SimulationReport, SimulationFailed> {
  const orders = new Set<number>()
  const marks = new Set<string>()
  let newOrders = 0
  const asked =
    repeat === undefined ? Arr.makeBy(seeds, (index): Order => ({ seed: firstSeed + index })) : [parseOrder(repeat)]
  for (const [index, order] of asked.entries()) {
    const run = yield* runOnce(simulation, order)
    if (run.problem !== undefined) {
      const isWhole = order.only === undefined && !run.isEndless
      const least = isWhole ? yield* shrink(order.seed, run, (less) => runOnce(simulation, less)) : run
      return yield* new SimulationFailed({
        repeat:
          isWhole || order.only !== undefined ? `${order.seed}! ${least.steps.join(" ")}`.trim() : `${order.seed}`,
        problem: least.problem ?? run.problem,
        transcript: least.transcript
      })
    }
    if (!orders.has(run.order) && index >= asked.length - 100) newOrders++
    orders.add(run.order)
    for (const mark of run.marks) marks.add(mark)
  }
  return {
    runs: asked.length,
    orders: orders.size,
    newOrders,
    marks: [...marks].sort(),
    unreachedMarks: (simulation.marks ?? []).filter((mark) => !marks.has(mark))
  }
})
