/** What became of a rotation: whose the new secret is, and until when the old one works. */
import { AsyncResult, Atom } from "effect/reactivity"
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Time } from "../kit/Times.tsx"
import * as KeyAtoms from "./KeyAtoms.ts"

export const RotationStatus = () => {
  const registry = useRegistry()
  const rotating = useAtomValue(KeyAtoms.rotating)
  const result = useAtomValue(KeyAtoms.rotate)
  if (rotating === undefined || result.waiting) return null
  const close = (): void => {
    registry.set(KeyAtoms.rotate, Atom.Reset)
    registry.set(KeyAtoms.rotating, undefined)
  }
  return (
    <section className="note" aria-label={`New secret of ${rotating.name}`}>
      <h2>
        New secret of <bdi>{rotating.name}</bdi>
      </h2>
      <Problem message={problemOf(result)} />
      {AsyncResult.isSuccess(result) ? (
        <div role="status">
          <p>
            Done: the new secret belongs to <bdi>{result.value.name}</bdi>. Give it to the programs that use the old
            one.
          </p>
          {result.value.old.map(({ expires, name }) => (
            <p key={name}>
              The old secret works as <bdi>{name}</bdi>
              {expires === null ? null : (
                <>
                  {" "}
                  until <Time at={expires} />
                </>
              )}
              . Change that one to give it another end.
            </p>
          ))}
        </div>
      ) : null}
      <button type="button" onClick={close}>
        Close
      </button>
    </section>
  )
}
