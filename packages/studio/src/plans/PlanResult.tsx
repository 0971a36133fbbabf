/** How far a change of contacts is, and then what it did, with its undo: above what a person looks at, until it is put away. */
import { reportWords } from "@roster/workflows"
import { Atom } from "effect/reactivity"
import { useEffect, useRef } from "preact/compat"
import type { Wanted } from "../contacts/ContactSelection.ts"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Icon } from "../kit/Icon.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { UndoButton } from "../session/Undo.tsx"
import * as ContactPlan from "./ContactPlan.ts"
import { shortened, statusWords } from "../texts/SharedTexts.ts"

/** What was done, before its counts. */
const doneWords = (of: Wanted): string => {
  if (of._tag === "Add") return `Contact ${of.contact.email.trim()}`
  if (of._tag === "DeleteList") return `The list ${of.name} is deleted`
  if (of._tag === "AddMany") return "Contacts added"
  if (of._tag === "Delete") return "Deletion"
  const { to } = of
  if (to.field === "list") return `${to.isOn ? "On" : "Off"} the list ${to.name.trim()}`
  if (to.field === "status") return `Status ${statusWords(to.value ?? "")}`
  return `${to.field === "custom" ? to.name.trim() : fieldNames[to.field]}: ${to.value || "removed"}`
}

const fieldNames = { firstName: "First name", lastName: "Last name" } as const

const countWords = ({ of, ...report }: ContactPlan.Applied): ReadonlyArray<string> =>
  of._tag === "DeleteList"
    ? [report.done === 0 ? "Nobody was on it." : `${people(report.done)} on it: they stay.`]
    : reportWords(report)

const PutAway = () => {
  const registry = useRegistry()
  const putAway = (): void => {
    registry.set(ContactPlan.result, undefined)
    registry.set(ContactPlan.apply, Atom.Reset)
  }
  return (
    <button type="button" className="quiet" onClick={putAway}>
      <Icon name="close" />
      Put away
    </button>
  )
}

const Done = ({ applied }: { readonly applied: ContactPlan.Applied }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  // The dialog that began it is gone, and so may be what opened that.
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="note" role="group" aria-label="What was done">
      <div className="bar">
        <div role="status" className="stack">
          <h2 ref={heading} tabIndex={-1}>
            <bdi>{shortened(doneWords(applied.of))}</bdi>
          </h2>
          {countWords(applied).map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
        {applied.run === undefined ? null : <UndoButton run={applied.run} title="Undo" total={applied.done} />}
        <PutAway />
      </div>
      <Problem message={applied.stoppedBy?.message} />
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
