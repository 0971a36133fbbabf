/** How far a change of contacts is, and then what it did, with its undo: above what a person looks at, until it is put away. */
import { reportWords } from "@roster/workflows"
import { Atom } from "effect/reactivity"
import { useEffect, useRef } from "preact/compat"
import type { Wanted } from "../contacts/ContactSelection.ts"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Icon } from "../kit/Icon.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { stopWords } from "../session/RunEnd.ts"
import { UndoButton } from "../session/Undo.tsx"
import { planTexts } from "../texts/PlanTexts.ts"
import { fieldTitle, sharedTexts, shortened, statusWords } from "../texts/SharedTexts.ts"
import * as ContactPlan from "./ContactPlan.ts"

/** What was done, before its counts. */
const doneWords = (of: Wanted): string => {
  if (of._tag === "Add") return planTexts.added(of.contact.email.trim())
  if (of._tag === "DeleteList") return planTexts.listDeleted(of.name)
  if (of._tag === "AddMany") return planTexts.manyAdded
  if (of._tag === "Delete") return planTexts.deletion
  const { to } = of
  if (to.field === "list") return to.isOn ? sharedTexts.onList(to.name.trim()) : planTexts.isOff(to.name.trim())
  if (to.field === "status") return planTexts.status(statusWords(to.value ?? ""))
  const field = to.field === "custom" ? to.name.trim() : fieldNames[to.field]
  return to.value === "" ? planTexts.fieldRemoved(field) : planTexts.fieldSet(field, to.value)
}

const fieldNames = { firstName: fieldTitle("FirstName"), lastName: fieldTitle("LastName") } as const

const countWords = ({ of, ...report }: ContactPlan.Applied): ReadonlyArray<string> =>
  of._tag === "DeleteList"
    ? [report.done === 0 ? planTexts.nobodyWasOn : planTexts.stayed(report.done)]
    : reportWords(report)

const PutAway = () => {
  const registry = useRegistry()
  const putAway = (): void => {
    registry.set(ContactPlan.result, undefined)
    registry.set(ContactPlan.apply, Atom.Reset)
    registry.set(ContactPlan.applied, undefined)
  }
  return (
    <button type="button" className="quiet" onClick={putAway}>
      <Icon name="close" />
      {planTexts.putAway}
    </button>
  )
}

/** Does what is left, where a person or an error stopped it. */
const GoOn = () => {
  const [, apply] = useAtom(ContactPlan.apply)
  const applied = useAtomValue(ContactPlan.applied)
  return useAtomValue(ContactPlan.isLeft) && applied !== undefined ? (
    <button type="button" onClick={() => apply(applied)}>
      {planTexts.goOn}
    </button>
  ) : null
}

const Done = ({ applied }: { readonly applied: ContactPlan.Applied }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  // The dialog that began it is gone, and so may be what opened that.
  useEffect(() => heading.current?.focus(), [])
  return (
    <div className="note" role="group" aria-label={sharedTexts.whatWasDone}>
      <div className="bar">
        <div role="status" className="stack">
          <h2 ref={heading} tabIndex={-1}>
            <bdi>{shortened(doneWords(applied.of))}</bdi>
          </h2>
          {countWords(applied).map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
        <GoOn />
        {applied.run === undefined ? null : (
          <UndoButton run={applied.run} title={sharedTexts.undo} total={applied.done} />
        )}
        <PutAway />
      </div>
      <Problem message={stopWords(applied)} />
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
        <span role="status">{planTexts.writing}</span>
        {done === 0 ? null : <span>{planTexts.writtenSoFar(done)}</span>}
        <button type="button" disabled={isStopped} onClick={() => stop(true)}>
          {sharedTexts.stop}
        </button>
      </div>
    )
  }
  const problem = problemOf(applying)
  if (problem !== undefined) {
    return (
      <div className="stack">
        <Problem message={problem} />
        <div className="buttons">
          <GoOn />
          <PutAway />
        </div>
      </div>
    )
  }
  return result === undefined ? null : <Done key={result.run} applied={result} />
}
