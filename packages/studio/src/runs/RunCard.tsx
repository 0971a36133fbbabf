/** A run: what it changed, as old beside new, and its undo with a preview. */
import type { ListedRun } from "@roster/workflows"
import { AsyncResult, Atom } from "effect/reactivity"
import { useEffect, useRef, useState } from "react"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Pager, pageSize } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import { Needs } from "../session/Rights.tsx"
import { ChangesTable } from "./ChangesTable.tsx"
import * as RunAtoms from "./RunAtoms.ts"
import { changedBy, effectWords, previewWords, stateWords, stepWords, undoneWords, whatOf, whenOf } from "./RunWords.ts"

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
              setOnlyLeft(event.target.checked)
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
  const [undone, start] = useAtom(RunAtoms.undo)
  const done = useAtomValue(RunAtoms.progress)
  const previewed = AsyncResult.isSuccess(preview) && preview.value.run === id ? preview.value : undefined
  const report = AsyncResult.isSuccess(undone) && undone.value.undone === id ? undone.value.report : undefined
  const close = (): void => {
    registry.set(RunAtoms.lookUndo, Atom.Reset)
    registry.set(RunAtoms.undo, Atom.Reset)
  }
  if (report !== undefined) {
    return (
      <div className="note" role="status">
        {undoneWords(report).map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
    )
  }
  if (undone.waiting) {
    const total = previewed?.report.read ?? run.counts.created + run.counts.changed + run.counts.deleted
    return (
      <>
        <label>
          Undoing: {done.toLocaleString()} of {total.toLocaleString()} contacts
          <progress max={Math.max(1, total)} value={done} />
        </label>
        <button type="button" onClick={() => registry.set(RunAtoms.undo, Atom.Interrupt)}>
          Stop
        </button>
      </>
    )
  }
  const isStopped = AsyncResult.isFailure(undone) && AsyncResult.isInterrupted(undone)
  return (
    <>
      <Problem message={problemOf(undone) ?? problemOf(preview)} />
      {isStopped ? (
        <p role="status">The undo was stopped. What it did stays done; look again, and undo the rest.</p>
      ) : null}
      {preview.waiting ? (
        <p role="status">Comparing with the contacts as they are now: {done.toLocaleString()} so far…</p>
      ) : previewed === undefined || isStopped ? null : (
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
        {previewed === undefined || preview.waiting || isStopped ? (
          <button
            type="button"
            disabled={!run.isHere || run.state === "GoingOn" || preview.waiting}
            onClick={() => {
              registry.set(RunAtoms.undo, Atom.Reset)
              look(id)
            }}
          >
            Preview the undo…
          </button>
        ) : (
          <>
            {changedBy(previewed.report) === 0 ? null : (
              <Needs level="ModifyContacts">
                <Confirmed>
                  <button type="button" className="danger" onClick={() => start(id)}>
                    Undo: change {people(changedBy(previewed.report))}
                  </button>
                </Confirmed>
              </Needs>
            )}
            <button type="button" onClick={close}>
              Leave it
            </button>
          </>
        )}
      </div>
      {run.isHere ? null : <p>This run is of {run.header.target}. Sign in there to undo it.</p>}
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
    return () => {
      registry.set(RunAtoms.lookUndo, Atom.Reset)
      // One that is at work goes on.
      if (!registry.get(RunAtoms.undo).waiting) registry.set(RunAtoms.undo, Atom.Reset)
    }
  }, [registry])
  const { changed, created, deleted } = run.counts
  return (
    <>
      <p>
        <button type="button" onClick={() => registry.set(RunAtoms.opened, undefined)}>
          All runs
        </button>
      </p>
      <h2 ref={heading} tabIndex={-1}>
        <bdi>{whatOf(run.header)}</bdi>, {whenOf(run.header)}
      </h2>
      <p>
        {created.toLocaleString()} added, {changed.toLocaleString()} changed, {deleted.toLocaleString()} deleted;{" "}
        {stateWords(run)}.{" "}
        {run.state === "Interrupted" && (run.header.command === "import" || run.header.command === "apply")
          ? "Importing the same file again goes on where it stopped."
          : ""}
      </p>
      <Undo run={run} />
      {AsyncResult.isSuccess(previewed) ? null : <Changes />}
    </>
  )
}
