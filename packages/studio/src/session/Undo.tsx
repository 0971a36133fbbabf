/** The undo of a run: one button wherever a run is shown, with how far it is and what it came to. */
import { reportWords, undoRun } from "@roster/workflows"
import { Effect } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { useEffect, useRef } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Icon } from "../kit/Icon.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { appTexts } from "../texts/AppTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import { contactsChanged } from "./Changes.ts"
import { Confirmed } from "./Confirmed.tsx"
import { Needs } from "./Rights.tsx"
import { isComplete, runEnd, stopWords } from "./RunEnd.ts"
import { runtime } from "./Session.ts"

/** How many contacts the undo of a run has come to. */
const doneOf = Atom.family((run: string) => Atom.keepAlive(Atom.make({ run, done: 0 })))

/** Undoes a run, by its id. It goes on while a person looks at other views. */
export const undoOf = Atom.family((run: string) =>
  Atom.keepAlive(
    runtime.fn(
      (_: void, get) =>
        runEnd(undoRun(run, { onProgress: (done) => Effect.sync(() => get.set(doneOf(run), { run, done })) })),
      { reactivityKeys: contactsChanged }
    )
  )
)

/** Undoes a run, and then says what that did. */
export const UndoButton = ({
  run,
  title,
  total
}: {
  readonly run: string
  readonly title: string
  /** The number of contacts that it is about. */
  readonly total: number
}) => {
  const registry = useRegistry()
  const [undone, undo] = useAtom(undoOf(run))
  const { done } = useAtomValue(doneOf(run))
  const report = AsyncResult.isSuccess(undone) ? undone.value : undefined
  const isDone = report !== undefined && isComplete(report)
  const note = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The button that had the focus is gone.
    if (report !== undefined && document.activeElement === document.body) note.current?.focus()
  }, [report])
  if (undone.waiting) {
    return (
      <>
        <label>
          {appTexts.undoing(done, total)}
          <progress max={Math.max(1, total)} value={done} />
        </label>
        <button type="button" onClick={() => registry.set(undoOf(run), Atom.Interrupt)}>
          {sharedTexts.stop}
        </button>
      </>
    )
  }
  return (
    <>
      {report === undefined ? null : (
        <div className="note" role="status" ref={note} tabIndex={-1}>
          {reportWords(report).map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
      )}
      {AsyncResult.isFailure(undone) && AsyncResult.isInterrupted(undone) ? (
        <p role="status">{appTexts.undoStopped}</p>
      ) : null}
      <Problem message={problemOf(undone) ?? stopWords(report)} />
      {isDone ? null : (
        <Needs level="ModifyContacts">
          <Confirmed>
            <button type="button" onClick={() => undo()}>
              <Icon name="undo" />
              {AsyncResult.isInitial(undone) ? title : appTexts.undoRest}
            </button>
          </Confirmed>
        </Needs>
      )}
    </>
  )
}
