/** The apply of the plan: its progress, which can be held and ended, its report, and the undo of it. */
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted, people } from "../kit/Counts.ts"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import { missing } from "../session/Rights.tsx"
import * as ImportPlan from "./ImportPlan.ts"
import * as ImportApply from "./ImportApply.ts"
import type { Applied, Planned } from "./thread/ImportCalls.ts"

const Running = ({ total }: { readonly total: number }) => {
  const registry = useRegistry()
  const done = useAtomValue(ImportApply.applied)
  const isPaused = useAtomValue(ImportApply.isPaused)
  const isCancelled = useAtomValue(ImportApply.isCancelled)
  // Kept, so that it does what the buttons say.
  useAtomValue(ImportApply.hold)
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

const counts = ({ alreadySo, changed, new: added, notSent, outdated, read, rejected, unknown }: Applied) =>
  [
    ["Rows of the plan", read],
    ["Added", added],
    ["Changed", changed],
    ["Already so", alreadySo],
    ["Left alone: somebody else changed the contact since the plan", outdated],
    ["Refused by the service", rejected],
    ["Not sent", notSent],
    ["Unknown: sent, and no answer came", unknown]
  ] as const

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

/** What an apply came to. */
const headline = (report: Applied): string => {
  const { done, notSent, read, unknown } = report
  if (notSent + unknown === 0) return done === read ? "All rows are stored." : "The import came to its end."
  return (
    `The import stopped. ${done.toLocaleString()} of ${read.toLocaleString()} rows are stored` +
    `${unknown === 0 ? "" : `, of ${unknown.toLocaleString()} it is not known`}` +
    `${notSent === 0 ? "" : `, and ${notSent.toLocaleString()} were not sent`}.`
  )
}

/** The undo of what was applied, and what it came to. */
const UndoOf = ({ run }: { readonly run: string }) => {
  const [undone, undo] = useAtom(ImportApply.undone)
  const found = AsyncResult.isSuccess(undone) ? undone.value : undefined
  return (
    <>
      {found === undefined ? null : (
        <p role="status" className="note">
          Undone: {people(found.deleted)} removed, {people(found.changed)} changed back
          {found.new === 0 ? "" : `, ${people(found.new)} brought back`}.
          {found.outdated === 0
            ? ""
            : ` ${people(found.outdated)} were changed by others since, and those changes stay.`}
          {ImportApply.isWhole(found)
            ? ""
            : ` Of ${people(found.notSent + found.unknown)} it is not done or not known; undo again.`}
        </p>
      )}
      <Problem message={problemOf(undone) ?? found?.stoppedBy?.message} />
      {found !== undefined && ImportApply.isWhole(found) ? null : (
        <Confirmed>
          <button type="button" disabled={undone.waiting} onClick={() => undo(run)}>
            {undone.waiting ? "Undoing…" : "Undo the import"}
          </button>
        </Confirmed>
      )}
    </>
  )
}

const Report = ({ planned, report }: { readonly report: Applied; readonly planned: Planned }) => {
  const registry = useRegistry()
  const start = useAtomSet(ImportApply.apply)
  const undone = useAtomValue(ImportApply.undone)
  const { outdatedContacts, problem, rejectedRows, run } = report
  const isUndone = AsyncResult.isSuccess(undone)
  return (
    <div className="stack">
      <p role="status" className="note">
        {headline(report)}
      </p>
      <Problem message={problem} />
      <table className="counts">
        <caption className="unseen">What the import did</caption>
        <tbody>
          {counts(report).map(([name, count]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
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
      {ImportApply.isWhole(report) || isUndone ? null : (
        <p>Going on sends these rows again, which does nothing twice.</p>
      )}
      {run === undefined ? null : <UndoOf run={run} />}
      <div className="buttons">
        {ImportApply.isWhole(report) || isUndone ? null : (
          <button type="button" className="primary" disabled={undone.waiting} onClick={() => start(planned)}>
            Go on
          </button>
        )}
        <button type="button" disabled={undone.waiting} onClick={() => ImportApply.choose(registry, undefined)}>
          Import another file
        </button>
      </div>
    </div>
  )
}

const doing = ({ changed, new: added }: Planned["summary"]): string =>
  [...(added === 0 ? [] : [`Add ${people(added)}`]), ...(changed === 0 ? [] : [`change ${people(changed)}`])]
    .join(" and ")
    .replace(/^c/, "C")

export const ApplyStep = () => {
  const planned = useAtomValue(ImportPlan.planned)
  const [applied, start] = useAtom(ImportApply.apply)
  const run = useAtomValue(ImportApply.appliedRun)
  const lacking = useAtomValue(missing("ModifyContacts"))
  const refusal = useAtomValue(ImportPlan.refusal)
  const reason = lacking ?? refusal
  if (planned === undefined) return null
  const { summary } = planned
  const total = summary.new + summary.changed
  return (
    <section aria-labelledby="import-apply" className="step">
      <h2 id="import-apply">5. Apply</h2>
      {applied.waiting ? (
        <Running total={total} />
      ) : AsyncResult.isSuccess(applied) ? (
        <Report report={applied.value} planned={planned} />
      ) : total === 0 ? (
        <p>The plan changes nothing.</p>
      ) : (
        <div className="buttons">
          <button type="button" className="primary" disabled={reason !== undefined} onClick={() => start(planned)}>
            {doing(summary)}
          </button>
          <span>{reason}</span>
        </div>
      )}
      <Problem message={problemOf(applied)} />
      {AsyncResult.isFailure(applied) && run !== undefined ? <UndoOf run={run} /> : null}
    </section>
  )
}
