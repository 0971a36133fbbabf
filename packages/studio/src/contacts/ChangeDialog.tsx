/** Sets a field of many contacts: which, to what, what that changes, and the undo of it. */
import { AsyncResult, Atom } from "effect/reactivity"
import { type FormEvent, useEffect, useState } from "react"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { shortened } from "../kit/Shortened.ts"
import { CommandLine } from "../session/CommandLine.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import { undo } from "../session/RecordedWrite.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { applyChange, changesOfField, planChange, type PlannedChange, type SetField } from "./ContactChanging.ts"
import { updateCommand } from "./ContactEdit.ts"
import { type Meant, meantOf } from "./ContactSelection.ts"
import { isSure, NumberToType } from "./NumberToType.tsx"

const Preview = ({
  onApply,
  planned: { isSevere, plan }
}: {
  readonly planned: PlannedChange
  readonly onApply: () => void
}) => {
  const [typed, setTyped] = useState("")
  const { changed, sample, unchanged } = plan.summary
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onApply()
  }
  if (changed === 0) return <p role="status">No contact changes: {people(unchanged)} so already.</p>
  return (
    <form className="stack" onSubmit={submit}>
      <p role="status">
        This would change {people(changed)}
        {unchanged === 0 ? "" : `; ${unchanged.toLocaleString()} are so already`}.
      </p>
      <ul>
        {sample.slice(0, 5).map(({ changes, email }) => (
          <li key={email}>
            <bdi>{email}</bdi>
            {Object.entries(changes).map(([field, [before, after]]) => (
              <span key={field}>
                {" "}
                <bdi className="old">{shortened(before ?? "nothing")}</bdi> →{" "}
                <bdi className="new">{shortened(after ?? "nothing")}</bdi>
              </span>
            ))}
          </li>
        ))}
        {changed > 5 ? <li>and {(changed - 5).toLocaleString()} more</li> : null}
      </ul>
      {isSevere ? <NumberToType count={changed} typed={typed} onType={setTyped} /> : null}
      <Confirmed>
        <button type="submit" className="danger" disabled={isSevere && !isSure(typed, changed)}>
          Change {people(changed)}
        </button>
      </Confirmed>
    </form>
  )
}

/** What the change came to, and its undo. */
const Changed = () => {
  const applied = useAtomValue(applyChange)
  const [undone, start] = useAtom(undo)
  if (!AsyncResult.isSuccess(applied)) return null
  const { changed, notSent, outdated, run, stoppedBy, unknown } = applied.value
  return (
    <>
      <p role="status">
        {AsyncResult.isSuccess(undone)
          ? `${people(undone.value.changed)} changed back.`
          : `Changed ${people(changed)}.` +
            (outdated === 0 ? "" : ` Others changed ${people(outdated)} meanwhile, which were left alone.`) +
            (notSent + unknown === 0
              ? ""
              : ` Of ${people(notSent + unknown)} it is not done or not known; change them again.`)}
      </p>
      <Problem message={problemOf(undone) ?? stoppedBy?.message} />
      {run === undefined || AsyncResult.isSuccess(undone) ? null : (
        <Confirmed>
          <button type="button" disabled={undone.waiting} onClick={() => start(run)}>
            {undone.waiting ? "Changing back…" : "Undo"}
          </button>
        </Confirmed>
      )}
    </>
  )
}

/** The fields that can be set, by what the choice of one holds; a custom field is told by its name. */
const chosenField = (choice: string, name: string): SetField =>
  choice === "first" ? { _tag: "FirstName" } : choice === "last" ? { _tag: "LastName" } : { _tag: "Custom", name }

const ChangeDialog = ({ meant, onClose }: { readonly meant: Meant; readonly onClose: () => void }) => {
  const registry = useRegistry()
  const known = useAtomValue(AppliedRule.knownFields)
  const [choice, setChoice] = useState("custom")
  const [name, setName] = useState("")
  const [value, setValue] = useState("")
  const [planned, plan] = useAtom(planChange)
  const [applied, apply] = useAtom(applyChange)
  useEffect(() => {
    // What a dialog before this one did is none of it.
    registry.set(planChange, Atom.Reset)
    registry.set(applyChange, Atom.Reset)
    registry.set(undo, Atom.Reset)
  }, [registry])
  const field = chosenField(choice, name.trim())
  const isGiven = field._tag !== "Custom" || field.name !== ""
  /** What was planned is of what stood in the form then. */
  const forget = (): void => registry.set(planChange, Atom.Reset)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    plan({ meant, field, value })
  }
  const isDone = AsyncResult.isSuccess(applied)
  return (
    <Dialog title="Set a field" onClose={onClose}>
      {isDone ? null : (
        <form className="stack" onSubmit={submit} onChange={forget}>
          <label>
            Field
            <select value={choice} onChange={(event) => setChoice(event.target.value)}>
              <option value="custom">a custom field</option>
              <option value="first">First name</option>
              <option value="last">Last name</option>
            </select>
          </label>
          {choice === "custom" ? (
            <label>
              Its name
              <input
                list="fields-in-use"
                autoComplete="off"
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
              <datalist id="fields-in-use">
                {known?.fields.flatMap(({ isCustom, name }) => (isCustom ? [<option key={name} value={name} />] : []))}
              </datalist>
            </label>
          ) : null}
          <label>
            New value; empty removes the field
            <input value={value} onChange={(event) => setValue(event.target.value)} />
          </label>
          {AsyncResult.isSuccess(planned) ? null : (
            <button type="submit" className="primary" disabled={!isGiven || planned.waiting}>
              {planned.waiting ? "Reading the contacts…" : "Show what changes"}
            </button>
          )}
        </form>
      )}
      <Problem message={problemOf(planned) ?? problemOf(applied)} />
      {!isDone && AsyncResult.isSuccess(planned) && !planned.waiting ? (
        applied.waiting ? (
          <p role="status">Changing…</p>
        ) : (
          <Preview planned={planned.value} onApply={() => apply(planned.value.plan)} />
        )
      ) : null}
      <Changed />
      <div className="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {isGiven ? <CommandLine command={updateCommand(meantOf(meant), changesOfField({ field, value }))} /> : null}
    </Dialog>
  )
}

export default ChangeDialog
