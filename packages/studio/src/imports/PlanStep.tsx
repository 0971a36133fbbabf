/** The plan: made of the file and what is said of it, so that nothing is stored by it. */
import { AsyncResult } from "effect/reactivity"
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { missing } from "../session/Rights.tsx"
import * as ImportPlan from "./ImportPlan.ts"
import * as ImportApply from "./ImportApply.ts"
import { PlannedRows } from "./PlannedRows.tsx"
import { PlanOptions } from "./PlanOptions.tsx"
import { CorrectedRows } from "./RejectedRows.tsx"
import type { PlanProgress } from "./thread/ImportCalls.ts"

const Progress = ({ progress }: { readonly progress: PlanProgress | undefined }) => {
  if (progress?._tag === "Planning") {
    return (
      <label>
        {progress.rows.toLocaleString()} of {counted(progress.total, "row")} compared with what is stored
        <progress value={progress.rows} max={Math.max(1, progress.total)} />
      </label>
    )
  }
  return (
    <label>
      {progress?._tag === "Reading" ? `${counted(progress.rows, "row")} read` : "Reading the file"}
      <progress />
    </label>
  )
}

export const PlanStep = () => {
  const registry = useRegistry()
  const result = useAtomValue(ImportPlan.plan)
  const isPlanning = useAtomValue(ImportPlan.isPlanning)
  const planned = useAtomValue(ImportPlan.planned)
  const applied = useAtomValue(ImportApply.apply)
  const reason = useAtomValue(missing("ViewContacts"))
  const isFixed = applied.waiting || AsyncResult.isSuccess(applied)
  const isReady = useAtomValue(ImportPlan.isReady)
  return (
    <section aria-labelledby="import-plan" className="step">
      <h2 id="import-plan">4. Plan</h2>
      <fieldset disabled={isFixed} className="plain stack">
        <PlanOptions />
        <div className="buttons">
          <button
            type="button"
            className={planned === undefined ? "primary" : ""}
            disabled={!isReady || reason !== undefined || isPlanning}
            onClick={() => ImportApply.makePlan(registry)}
          >
            {planned === undefined ? "Plan" : "Plan again"}
          </button>
          {isPlanning ? (
            <button type="button" onClick={() => ImportApply.forgetPlan(registry)}>
              Stop
            </button>
          ) : null}
          <span>{reason}</span>
        </div>
        <CorrectedRows />
      </fieldset>
      {isPlanning ? <Progress progress={AsyncResult.isSuccess(result) ? result.value : undefined} /> : null}
      <Problem message={problemOf(result)} />
      {planned === undefined ? null : <PlannedRows planned={planned} />}
    </section>
  )
}
