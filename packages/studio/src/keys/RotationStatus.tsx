/** What became of a rotation: whose the new secret is, and until when the old one works. */
import { AsyncResult, Atom } from "effect/reactivity"
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Time } from "../kit/Times.tsx"
import { keyTexts } from "../texts/KeyTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
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
    <section className="note" aria-labelledby="rotation-title">
      <h2 id="rotation-title">{keyTexts.newSecretOf(<bdi>{rotating.name}</bdi>)}</h2>
      <Problem message={problemOf(result)} />
      {AsyncResult.isSuccess(result) ? (
        <div role="status">
          <p>{keyTexts.belongsTo(<bdi>{result.value.name}</bdi>)}</p>
          {result.value.old.map(({ expires, name }) => (
            <p key={name}>
              {expires === null
                ? keyTexts.oldWorks(<bdi>{name}</bdi>)
                : keyTexts.oldWorksUntil(<bdi>{name}</bdi>, <Time at={expires} />)}
            </p>
          ))}
        </div>
      ) : null}
      <button type="button" onClick={close}>
        {sharedTexts.close}
      </button>
    </section>
  )
}
