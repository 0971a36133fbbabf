/** Deletes a credential, or revokes one whose secret has leaked. The last key that manages keys stays, and the dialog says why. */
import { AsyncResult, Atom } from "effect/reactivity"
import { useEffect } from "preact/compat"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Time } from "../kit/Times.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import * as KeyAtoms from "./KeyAtoms.ts"
import { kindNames } from "./KeyWords.ts"

const LastUse = ({ of: { lastUse } }: { readonly of: KeyAtoms.ListedKey["key"] }) =>
  lastUse == null ? (
    "It was never used"
  ) : (
    <>
      It was used last at <Time at={lastUse} />
    </>
  )

/** What is known of a leaked key that is gone. */
const Revoked = ({ listed }: { readonly listed: KeyAtoms.ListedKey }) => {
  const { name } = listed.key
  const values = { key: listed.kind === "apikeys" ? name : undefined, since: "30d" }
  return (
    <>
      <p role="status">
        <bdi>{name}</bdi> is revoked: nobody gets in with it any more. <LastUse of={listed.key} />.{" "}
        {(listed.levels ?? []).length === 0 ? "" : `It could do: ${listed.levels?.join(", ")}.`}
      </p>
      <p>What it did is in the audit trail, for a key with the level Security:</p>
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
      title={isLeaked ? `${key.name} has leaked` : `Delete ${key.name}`}
      onClose={removed.waiting ? undefined : onClose}
    >
      <div className="stack">
        <Problem message={problemOf(removed)} />
        {isGone ? (
          isLeaked ? (
            <Revoked listed={listed} />
          ) : (
            <p role="status">
              <bdi>{key.name}</bdi> is deleted.
            </p>
          )
        ) : isLastManaging ? (
          <p>
            This is the last key that can manage keys, so it stays: without it nobody could make another one over the
            network. Make another key that can manage keys first, sign in with that one, and then delete this one.
          </p>
        ) : (
          <p>
            The {kindNames[kind]} <bdi>{key.name}</bdi> would stop working at once, for every program that uses it.{" "}
            <LastUse of={key} />. This cannot be undone.
          </p>
        )}
        <div className="buttons">
          {isGone ? null : isLastManaging ? (
            <button type="button" className="primary" onClick={onMakeManaging}>
              Make another managing key…
            </button>
          ) : (
            <Confirmed>
              <button
                type="button"
                className="danger"
                disabled={removed.waiting}
                onClick={() => remove({ kind, name: key.name })}
              >
                {removed.waiting ? "One moment…" : isLeaked ? "Revoke it now" : "Delete it"}
              </button>
            </Confirmed>
          )}
          <button type="button" disabled={removed.waiting} onClick={onClose}>
            {isGone ? "Close" : "Keep it"}
          </button>
        </div>
        {isGone ? null : <CommandLine command={command} />}
      </div>
    </Dialog>
  )
}
