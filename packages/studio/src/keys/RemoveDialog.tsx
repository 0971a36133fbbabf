/** Deletes a credential, or revokes one whose secret has leaked. The last key that manages keys stays, and the dialog says why. */
import { AsyncResult, Atom } from "effect/reactivity"
import { useEffect } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Time } from "../kit/Times.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import { keyTexts } from "../texts/KeyTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as KeyAtoms from "./KeyAtoms.ts"

const LastUse = ({ of: { lastUse } }: { readonly of: KeyAtoms.ListedKey["key"] }) =>
  lastUse == null ? keyTexts.neverUsed : keyTexts.lastUsed(<Time at={lastUse} />)

/** What is known of a leaked key that is gone. */
const Revoked = ({ listed }: { readonly listed: KeyAtoms.ListedKey }) => {
  const { name } = listed.key
  const values = { key: listed.kind === "apikeys" ? name : undefined, since: "30d" }
  return (
    <>
      <p role="status">
        {keyTexts.isRevoked(<bdi>{name}</bdi>)} <LastUse of={listed.key} />{" "}
        {(listed.levels ?? []).length === 0 ? "" : keyTexts.couldDo((listed.levels ?? []).join(", "))}
      </p>
      <p>{keyTexts.inTrail}</p>
      <CommandLine command={{ program: "audit list", values }} />
    </>
  )
}

export const RemoveDialog = ({
  isLeaked,
  listed,
  onClose,
  onMakeManaging
}: {
  readonly listed: KeyAtoms.ListedKey
  readonly isLeaked: boolean
  readonly onClose: () => void
  /** Begins a new key that can manage keys. */
  readonly onMakeManaging: () => void
}) => {
  const registry = useRegistry()
  const [removed, remove] = useAtom(KeyAtoms.remove)
  const email = useAtomValue(KeyAtoms.subaccount)
  useEffect(() => registry.set(KeyAtoms.remove, Atom.Reset), [registry])
  const { isLastManaging, key, kind } = listed
  const command = { program: `${kind} delete`, given: [key.name], values: { subaccount: email || undefined } }
  const isGone = AsyncResult.isSuccess(removed) && !removed.waiting
  return (
    <Dialog
      title={isLeaked ? keyTexts.hasLeaked(key.name) : keyTexts.deleteNamed(key.name)}
      onClose={removed.waiting ? undefined : onClose}
    >
      <div className="stack">
        <Problem message={problemOf(removed)} />
        {isGone ? (
          isLeaked ? (
            <Revoked listed={listed} />
          ) : (
            <p role="status">{keyTexts.isDeleted(<bdi>{key.name}</bdi>)}</p>
          )
        ) : isLastManaging ? (
          <p>{keyTexts.lastManaging}</p>
        ) : (
          <p>
            {keyTexts.wouldStop[kind](<bdi>{key.name}</bdi>)} <LastUse of={key} /> {keyTexts.noUndo}
          </p>
        )}
        <div className="buttons">
          {isGone ? null : isLastManaging ? (
            <button type="button" className="primary" onClick={onMakeManaging}>
              {keyTexts.makeManaging}
            </button>
          ) : (
            <Confirmed>
              <button
                type="button"
                className="danger"
                disabled={removed.waiting}
                onClick={() => remove({ kind, name: key.name })}
              >
                {removed.waiting ? sharedTexts.oneMoment : isLeaked ? keyTexts.revokeIt : keyTexts.deleteIt}
              </button>
            </Confirmed>
          )}
          <button type="button" disabled={removed.waiting} onClick={onClose}>
            {isGone ? sharedTexts.close : keyTexts.keepIt}
          </button>
        </div>
        {isGone ? null : <CommandLine command={command} />}
      </div>
    </Dialog>
  )
}
