/** How far a rotation is, in the steps of the program. It goes on while one looks at other views. */
import { AsyncResult, Atom } from "effect/reactivity"
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import * as KeyAtoms from "./KeyAtoms.ts"
import { stepWords } from "./KeyWords.ts"

export const RotationStatus = () => {
  const registry = useRegistry()
  const begun = useAtomValue(KeyAtoms.rotation)
  const result = useAtomValue(KeyAtoms.rotate)
  const idle = useAtomValue(KeyAtoms.idle)
  const isShown = useAtomValue(KeyAtoms.shownSecret) !== undefined
  if (begun === undefined) return null
  const isStopped = AsyncResult.isFailure(result) && AsyncResult.isInterrupted(result)
  const close = (): void => {
    registry.set(KeyAtoms.rotate, Atom.Reset)
    registry.set(KeyAtoms.rotation, undefined)
  }
  return (
    <section className="note" aria-label={`New secret of ${begun.name}`}>
      <h2>
        New secret of <bdi>{begun.name}</bdi>
      </h2>
      <ol aria-live="polite">
        {begun.steps.map((step, index) => (
          <li key={index}>{stepWords(step)}</li>
        ))}
      </ol>
      <Problem message={problemOf(result)} />
      {AsyncResult.isSuccess(result) && !result.waiting ? (
        <p role="status">
          Done: the new secret belongs to <bdi>{result.value.name}</bdi>.
        </p>
      ) : null}
      {isStopped ? <p role="status">The wait was stopped. Both secrets work; rotate again to go on.</p> : null}
      {result.waiting ? (
        <>
          <p>
            After that the old secret is deleted ({KeyAtoms.idleTimes[idle]}). Keep this page open, or stop the wait:
            both secrets go on working, and rotating again resumes.
          </p>
          <button type="button" disabled={isShown} onClick={() => registry.set(KeyAtoms.rotate, Atom.Interrupt)}>
            Stop waiting
          </button>
        </>
      ) : (
        <button type="button" onClick={close}>
          Close
        </button>
      )}
    </section>
  )
}
