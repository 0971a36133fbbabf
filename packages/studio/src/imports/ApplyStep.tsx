/** The apply of the plan: its progress, which can be held and ended, its report, and the undo of it. */
import { reportCounts } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useEffect } from "preact/compat"
import { useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Problem, problemOf } from "../kit/Problem.tsx"
import { type Ended, isComplete, stopWords } from "../session/RunEnd.ts"
import { UndoButton, undoOf } from "../session/Undo.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import { number } from "../texts/Language.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as ImportPlan from "./ImportPlan.ts"
import * as ImportApply from "./ImportApply.ts"

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
        {importTexts.applied(done, total)}
        <progress value={done} max={Math.max(1, total)} />
      </label>
      <p role="status">{isCancelled ? importTexts.waiting : isPaused ? importTexts.isPaused : importTexts.keepOpen}</p>
      <div className="buttons">
        <button type="button" disabled={isCancelled} onClick={() => ImportApply.pause(registry, !isPaused)}>
          {isPaused ? importTexts.goOnApplying : importTexts.pause}
        </button>
        <button type="button" className="danger" disabled={isCancelled} onClick={() => ImportApply.cancel(registry)}>
          {importTexts.cancel}
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
  const { outdatedContacts, rejectedRows, run } = report
  const undone = useAtomValue(undoOf(run ?? ""))
  const isUndone = AsyncResult.isSuccess(undone)
  const isGone = isUndone && isComplete(undone.value)
  useEffect(() => {
    if (isGone) ImportApply.forgetLeft(registry)
  }, [isGone, registry])
  return (
    <div className="stack">
      <p role="status" className={isComplete(report) ? "note good" : "note warn"}>
        {importTexts.outcome(report, isComplete(report))}
      </p>
      <Problem message={stopWords(report)} />
      <table className="counts">
        <caption className="unseen">{importTexts.did}</caption>
        <tbody>
          {reportCounts(report).map(({ count, isPart, words }) => (
            <tr key={words}>
              <th scope="row" className={isPart ? "part" : undefined}>
                {words}
              </th>
              <td className="number">{number(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Named
        title={importTexts.leftAlone}
        rows={outdatedContacts.map(({ email, line = 0 }) => importTexts.inLine(line, email))}
      />
      <Named
        title={importTexts.refused}
        rows={rejectedRows.map(({ line, reason }) => importTexts.inLine(line, reason))}
      />
      {isComplete(report) || isUndone ? null : <p>{importTexts.sendsAgain}</p>}
      {run === undefined ? null : <UndoButton run={run} title={importTexts.undo} total={report.done} />}
      <div className="buttons">
        {isComplete(report) || isUndone ? null : (
          <button type="button" className="primary" disabled={undone.waiting} onClick={() => start(planned)}>
            {importTexts.goOnApplying}
          </button>
        )}
        <button type="button" disabled={undone.waiting} onClick={() => begin(registry, undefined)}>
          {importTexts.importOther}
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
        <p>{importTexts.undoUnder(<a href="#history">{sharedTexts.views.history}</a>)}</p>
      ) : null}
    </div>
  )
}
