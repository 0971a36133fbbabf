/** A run: what it changed, as old beside new, and its undo with a preview. */
import type { ListedRun } from "@roster/workflows"
import { AsyncResult, Atom } from "effect/reactivity"
import { useEffect, useRef, useState } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Icon } from "../kit/Icon.tsx"
import { Pager, pageSize } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Time } from "../kit/Times.tsx"
import { UndoButton, undoOf } from "../session/Undo.tsx"
import { ChangesTable } from "./ChangesTable.tsx"
import * as RunAtoms from "./RunAtoms.ts"
import { whatOf } from "../session/DeedWords.ts"
import { beganAt, changedBy, effectWords, previewWords, stepWords } from "./RunWords.ts"
import { StateMark } from "./StateMark.tsx"

const Changes = () => {
  const result = useAtomValue(RunAtoms.changes)
  const [first, setFirst] = useAtom(RunAtoms.first)
  if (!AsyncResult.isSuccess(result)) {
    return problemOf(result) === undefined ? <p>Reading the run…</p> : <Problem message={problemOf(result)} />
  }
  const { changes, total } = result.value
  if (total === 0) return <p>The record of this run names no contacts.</p>
  return (
    <>
      <Pager first={first} total={total} onFirst={setFirst} />
      <ChangesTable
        label="What the run changed"
        hasNow={false}
        changes={changes.map(({ effect, email, fields, isMade }) => ({
          email,
          fields,
          words: isMade ? effectWords[effect] : "left alone: others changed the contact meanwhile"
        }))}
      />
    </>
  )
}

const Preview = ({ preview }: { readonly preview: RunAtoms.UndoPreview }) => {
  const [first, setFirst] = useState(0)
  const size = useAtomValue(pageSize)
  const [isOnlyLeft, setOnlyLeft] = useState(false)
  const { contacts, since } = preview
  const shown = isOnlyLeft ? contacts.filter((contact) => contact.since !== undefined) : contacts
  return (
    <>
      {since.Changed + since.Deleted === 0 ? null : (
        <label className="choice">
          <input
            type="checkbox"
            checked={isOnlyLeft}
            onChange={(event) => {
              setOnlyLeft(event.currentTarget.checked)
              setFirst(0)
            }}
          />
          Only those that others changed or deleted since
        </label>
      )}
      <Pager first={first} total={shown.length} onFirst={setFirst} />
      <ChangesTable
        label="What the undo would do"
        hasNow
        changes={shown
          .slice(first, first + size)
          .map((contact) => ({ email: contact.email, fields: contact.fields, words: stepWords(contact) }))}
      />
      {contacts.length < preview.report.read ? (
        <p>
          Shown are the first {contacts.length.toLocaleString()} of {preview.report.read.toLocaleString()} contacts.
        </p>
      ) : null}
    </>
  )
}

const Undo = ({ run }: { readonly run: ListedRun }) => {
  const { id } = run.header
  const registry = useRegistry()
  const [preview, look] = useAtom(RunAtoms.lookUndo)
  const undone = useAtomValue(undoOf(id))
  const done = useAtomValue(RunAtoms.progress)
  const previewed = AsyncResult.isSuccess(preview) && preview.value.run === id ? preview.value : undefined
  const total = previewed === undefined ? 0 : changedBy(previewed.report)
  const button = <UndoButton run={id} title={`Undo: change ${people(total)}`} total={total} />
  if (undone.waiting || !AsyncResult.isInitial(undone)) return button
  return (
    <>
      <Problem message={problemOf(preview)} />
      {preview.waiting ? (
        <p role="status">Comparing with the contacts as they are now: {done.toLocaleString()} so far…</p>
      ) : previewed === undefined ? null : (
        <>
          <div className="note" role="status">
            {previewWords(previewed).map((line) => (
              <p key={line}>{line}</p>
            ))}
          </div>
          <Preview preview={previewed} />
        </>
      )}
      <div className="buttons">
        {previewed === undefined || preview.waiting ? (
          <button
            type="button"
            disabled={!run.isHere || run.state === "GoingOn" || preview.waiting}
            onClick={() => look(id)}
          >
            Preview the undo…
          </button>
        ) : (
          <>
            {total === 0 ? null : button}
            <button type="button" onClick={() => registry.set(RunAtoms.lookUndo, Atom.Reset)}>
              Leave it
            </button>
          </>
        )}
      </div>
      {run.isHere ? null : <p>This run is of {run.header.name ?? run.header.target}. Sign in there to undo it.</p>}
    </>
  )
}

export const RunCard = ({ run }: { readonly run: ListedRun }) => {
  const registry = useRegistry()
  const heading = useRef<HTMLHeadingElement>(null)
  const previewed = useAtomValue(RunAtoms.lookUndo)
  useEffect(() => {
    registry.set(RunAtoms.first, 0)
    heading.current?.focus()
    return () => registry.set(RunAtoms.lookUndo, Atom.Reset)
  }, [registry])
  const { changed, created, deleted } = run.counts
  return (
    <>
      <p>
        <button type="button" onClick={() => registry.set(RunAtoms.opened, undefined)}>
          <Icon name="previous" />
          Back to the history
        </button>
      </p>
      <h2 ref={heading} tabIndex={-1}>
        <bdi>{whatOf(run.header)}</bdi>, <Time at={beganAt(run.header)} /> <StateMark run={run} />
      </h2>
      <p>
        {created.toLocaleString()} added, {changed.toLocaleString()} changed, {deleted.toLocaleString()} deleted.{" "}
        {run.state === "Interrupted" && (run.header.command === "import" || run.header.command === "apply")
          ? "Importing the same file again goes on where it stopped."
          : ""}
      </p>
      <Undo run={run} />
      {AsyncResult.isSuccess(previewed) ? null : <Changes />}
    </>
  )
}
