/** The runs as a list shows them: how each ended, and which of them undid another one. */
import { Effect, Option } from "effect"
import { type RunInfo } from "./RecordedRun.ts"
import { RunLog } from "./RunLog.ts"

/** A run as a list shows it. */
export interface ListedRun extends RunInfo {
  /** Whether it came to its end, was left before it, or is at work. */
  readonly state: "Finished" | "Interrupted" | "GoingOn"
  /** The run that undid all of this one, unless that was undone itself. */
  readonly undoneBy: RunInfo | undefined
  /** Whether it is of the service or store of the log. */
  readonly isHere: boolean
}

/** The run that undid another one, if it was not undone itself. One with an input undid only a part. */
const undoOf = (runs: ReadonlyArray<RunInfo>, id: string): RunInfo | undefined =>
  runs.find(
    ({ header, isEnded }) =>
      isEnded && header.undoes === id && header.input === undefined && undoOf(runs, header.id) === undefined
  )

/**
 * Lists the runs on all targets, the newest first.
 *
 * ```ts
 * import { listRuns } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * export const example = Effect.map(listRuns, (runs) =>
 *   runs.filter(({ state, undoneBy }) => state === "Interrupted" && undoneBy === undefined)
 * )
 * ```
 */
export const listRuns = Effect.gen(function* () {
  const log = yield* RunLog
  const runs = yield* log.list
  // Runs are listed while the service does not answer, too.
  const here = yield* Effect.option(log.target)
  return runs.map((run): ListedRun => ({
    ...run,
    state: run.isTaken ? "GoingOn" : run.isEnded ? "Finished" : "Interrupted",
    undoneBy: undoOf(runs, run.header.id),
    isHere: Option.exists(here, ({ isNamed }) => isNamed(run.header.target))
  }))
})
