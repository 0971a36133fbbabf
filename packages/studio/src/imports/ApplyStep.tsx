/** The apply of the plan: its progress, which can be held and ended, its report, and the undo of it. */
import { isWhole, reportCounts } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useEffect } from "preact/compat"
import { useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { Problem, problemOf } from "../kit/Problem.tsx"
import type { Ended } from "../session/RunEnd.ts"
import { UndoButton, undoOf } from "../session/Undo.tsx"
import * as ImportPlan from "./ImportPlan.ts"
import * as ImportApply from "./ImportApply.ts"
import { appliedText } from "./ImportWords.ts"
import { begin } from "./ImportSteps.tsx"
import type { Planned } from "./thread/ImportCalls.ts"

const Running = ({ total }: { readonly total: number }) => {
  const registry = useRegistry()
  const done = useAtomValue(ImportApply.applied)
  const isPaused = useAtomValue(ImportApply.isPaused)
  const isCancelled = useAtomValue(ImportApply.isCancelled)
  return (
    <>
      <label>
        {done.toLocaleString()} of {counted(total, "row")}
        <progress value={done} max={Math.max(1, total)} />
      </label>
      <p role="status">
        {isCancelled
          ? "Waiting for the answers to what was sent…"
          : isPaused
            ? "Paused: nothing more is sent until you go on."
            : "Keep this page open until all rows are done."}
      </p>
      <div className="buttons">
        <button type="button" disabled={isCancelled} onClick={() => ImportApply.pause(registry, !isPaused)}>
          {isPaused ? "Go on" : "Pause"}
        </button>
        <button type="button" className="danger" disabled={isCancelled} onClick={() => ImportApply.cancel(registry)}>
          Cancel
        </button>
      </div>
    </>
  )
}

const Named = ({ rows, title }: { readonly title: string; readonly rows: ReadonlyArray<string> }) =>
  rows.length === 0 ? null : (
    <details>
      <summary>{title}</summary>
      <ul>
        {rows.map((row) => (
          <li key={row}>
            <bdi>{row}</bdi>
          </li>
        ))}
      </ul>
    </details>
  )

const Report = ({ planned, report }: { readonly report: Ended; readonly planned: Planned }) => {
  const registry = useRegistry()
  const start = useAtomSet(ImportApply.apply)
  const { outdatedContacts, rejectedRows, run, stoppedBy } = report
  const undone = useAtomValue(undoOf(run ?? ""))
  const isUndone = AsyncResult.isSuccess(undone)
  const isGone = isUndone && isWhole(undone.value)
  useEffect(() => {
    if (isGone) ImportApply.forgetLeft(registry)
  }, [isGone, registry])
  return (
    <div className="stack">
      <p role="status" className={isWhole(report) ? "note good" : "note warn"}>
        {appliedText(report)}
      </p>
      <Problem message={stoppedBy?.message} />
      <table className="counts">
        <caption className="unseen">What the import did</caption>
        <tbody>
          {reportCounts(report).map(({ count, isPart, words }) => (
            <tr key={words}>
              <th scope="row" className={isPart ? "part" : undefined}>
                {words}
              </th>
              <td className="number">{count.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Named
        title="Contacts that were left alone"
        rows={outdatedContacts.map(({ email, line = 0 }) => `line ${line}: ${email}`)}
      />
      <Named
        title="Rows that the service refused"
        rows={rejectedRows.map(({ line, reason }) => `line ${line}: ${reason}`)}
      />
      {isWhole(report) || isUndone ? null : <p>Going on sends these rows again, which does nothing twice.</p>}
      {run === undefined ? null : <UndoButton run={run} title="Undo the import" total={report.done} />}
      <div className="buttons">
        {isWhole(report) || isUndone ? null : (
          <button type="button" className="primary" disabled={undone.waiting} onClick={() => start(planned)}>
            Go on
          </button>
        )}
        <button type="button" disabled={undone.waiting} onClick={() => begin(registry, undefined)}>
          Import another file
        </button>
      </div>
    </div>
  )
}

export const ApplyStep = () => {
  const planned = useAtomValue(ImportPlan.planned)
  const applied = useAtomValue(ImportApply.apply)
  if (planned === undefined) return null
  const { summary } = planned
  return (
    <div className="step-body">
      {applied.waiting ? (
        <Running total={summary.new + summary.changed + summary.onlyLists} />
      ) : AsyncResult.isSuccess(applied) ? (
        <Report report={applied.value} planned={planned} />
      ) : null}
      <Problem message={problemOf(applied)} />
      {AsyncResult.isFailure(applied) ? (
        <p>
          What it stored can be undone under <a href="#history">History</a>.
        </p>
      ) : null}
    </div>
  )
}
