/** How far a change of contacts is, and then what it did, with its undo: above what a person looks at, until it is put away. */
import { reportWords } from "@roster/workflows"
import { Atom } from "effect/reactivity"
import { useEffect, useRef } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { shortened } from "../kit/Shortened.ts"
import { UndoButton } from "../session/Undo.tsx"
import * as ContactPlan from "./ContactPlan.ts"

const wordsOf = ({ of, ...report }: ContactPlan.Applied): ReadonlyArray<string> =>
  of._tag === "DeleteList"
    ? [`The list is deleted. ${report.done === 0 ? "Nobody was on it." : `${people(report.done)} on it: they stay.`}`]
    : reportWords(report)

const titles = {
  Add: "Added",
  AddMany: "Added",
  Change: "Changed",
  Delete: "Deleted",
  DeleteList: "List deleted"
} as const

const PutAway = () => {
  const registry = useRegistry()
  const putAway = (): void => {
    registry.set(ContactPlan.result, undefined)
    registry.set(ContactPlan.apply, Atom.Reset)
  }
  return (
    <button type="button" onClick={putAway}>
      Put away
    </button>
  )
}

const Done = ({ applied }: { readonly applied: ContactPlan.Applied }) => {
  const note = useRef<HTMLDivElement>(null)
  // The dialog that began it is gone, and so may be what opened that.
  useEffect(() => note.current?.focus(), [])
  return (
    <div className="note stack" ref={note} tabIndex={-1} role="group" aria-label="What was done">
      <div role="status">
        <p>
          {titles[applied.of._tag]}: <bdi>{shortened(ContactPlan.titleOf(applied.of))}</bdi>
        </p>
        {wordsOf(applied).map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
      <Problem message={applied.stoppedBy?.message} />
      <div className="bar">
        {applied.run === undefined ? null : <UndoButton run={applied.run} title="Undo" total={applied.done} />}
        <PutAway />
      </div>
    </div>
  )
}

export const PlanResult = () => {
  const [applying] = useAtom(ContactPlan.apply)
  const result = useAtomValue(ContactPlan.result)
  const done = useAtomValue(ContactPlan.progress)
  const [isStopped, stop] = useAtom(ContactPlan.isStopped)
  if (applying.waiting) {
    return (
      <div className="note bar">
        <span role="status">Writing…</span>
        {done === 0 ? null : <span>{people(done)} so far</span>}
        <button type="button" disabled={isStopped} onClick={() => stop(true)}>
          Stop
        </button>
      </div>
    )
  }
  const problem = problemOf(applying)
  if (problem !== undefined) {
    return (
      <div className="stack">
        <Problem message={problem} />
        <PutAway />
      </div>
    )
  }
  return result === undefined ? null : <Done key={result.run} applied={result} />
}
