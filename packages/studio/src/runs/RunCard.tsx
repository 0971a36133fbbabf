/** A run: what it changed, as old beside new, and its undo with a preview. */
import type { ListedRun } from "@roster/workflows"
import { AsyncResult, Atom } from "effect/reactivity"
import { useEffect, useRef, useState } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Icon } from "../kit/Icon.tsx"
import { Pager, pageSize } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Time } from "../kit/Times.tsx"
import { ReadProblem } from "../session/ReadProblem.tsx"
import { UndoButton, undoOf } from "../session/Undo.tsx"
import { runTexts, whatOf } from "../texts/RunTexts.ts"
import { ChangesTable } from "./ChangesTable.tsx"
import * as RunAtoms from "./RunAtoms.ts"
import { beganAt, changedBy, previewWords, stepWords } from "./RunWords.ts"
import { StateMark } from "./StateMark.tsx"

const Changes = () => {
  const result = useAtomValue(RunAtoms.changes)
  const [first, setFirst] = useAtom(RunAtoms.first)
  if (!AsyncResult.isSuccess(result)) {
    return problemOf(result) === undefined ? <p>{runTexts.readingRun}</p> : <ReadProblem of={result} />
  }
  const { changes, total } = result.value
  if (total === 0) return <p>{runTexts.noContacts}</p>
  return (
    <>
      <Pager first={first} total={total} onFirst={setFirst} />
      <ChangesTable
        label={runTexts.changes}
        hasNow={false}
        changes={changes.map(({ effect, email, fields, isMade }) => ({
          email,
          fields,
          words: isMade ? runTexts.effects[effect] : runTexts.leftAlone
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
          {runTexts.onlySince}
        </label>
      )}
      <Pager first={first} total={shown.length} onFirst={setFirst} />
      <ChangesTable
        label={runTexts.wouldDo}
        hasNow
        changes={shown
          .slice(first, first + size)
          .map((contact) => ({ email: contact.email, fields: contact.fields, words: stepWords(contact) }))}
      />
      {contacts.length < preview.report.read ? <p>{runTexts.firstOf(contacts.length, preview.report.read)}</p> : null}
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
  const button = <UndoButton run={id} title={runTexts.undoOf(total)} total={total} />
  if (undone.waiting || !AsyncResult.isInitial(undone)) return button
  return (
    <>
      <Problem message={problemOf(preview)} />
      {preview.waiting ? (
        <p role="status">{runTexts.comparing(done)}</p>
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
            {runTexts.preview}
          </button>
        ) : (
          <>
            {total === 0 ? null : button}
            <button type="button" onClick={() => registry.set(RunAtoms.lookUndo, Atom.Reset)}>
              {runTexts.leave}
            </button>
          </>
        )}
      </div>
      {run.isHere ? null : <p>{runTexts.elsewhere(run.header.name ?? run.header.target)}</p>}
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

  return (
    <>
      <div className="bar">
        <button type="button" onClick={() => registry.set(RunAtoms.opened, undefined)}>
          <Icon name="previous" />
          {runTexts.back}
        </button>
        <h2 ref={heading} tabIndex={-1}>
          {runTexts.heading(
            <bdi>{whatOf(run.header)}</bdi>,
            <Time at={beganAt(run.header)} />,
            <StateMark run={run} />
          )}
        </h2>
      </div>
      <p>
        {runTexts.did(run.counts)}{" "}
        {run.state === "Interrupted" && (run.header.command === "import" || run.header.command === "apply")
          ? runTexts.importAgain
          : ""}
      </p>
      <Undo run={run} />
      {AsyncResult.isSuccess(previewed) ? null : <Changes />}
    </>
  )
}
