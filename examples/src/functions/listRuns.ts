import { listRuns } from "@roster/workflows"
import { Effect } from "effect"

export const example = Effect.map(listRuns, (runs) =>
  runs.filter(({ state, undoneBy }) => state === "Interrupted" && undoneBy === undefined)
)
