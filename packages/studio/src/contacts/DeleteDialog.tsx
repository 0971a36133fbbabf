/** Deletes contacts after their number, statuses and first addresses were seen; the deletion can be undone. */
import { AsyncResult, Atom } from "effect/reactivity"
import { type FormEvent, useEffect, useState } from "react"
import { useAtom, useAtomSet, useRegistry } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { shortened } from "../kit/Shortened.ts"
import { CommandLine } from "../session/CommandLine.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import { undo } from "../session/RecordedWrite.ts"
import * as ContactAtoms from "./ContactAtoms.ts"
import { deleteDoomed, type Doomed, lookDoomed, saveContacts } from "./ContactDeletion.ts"
import { type Meant, meantOf } from "./ContactSelection.ts"
import { isSure, NumberToType } from "./NumberToType.tsx"

const Confirm = ({
  doomed: { contacts, isSevere, statuses },
  isDeleting,
  onClose,
  onDelete
}: {
  readonly doomed: Doomed
  readonly isDeleting: boolean
  readonly onDelete: () => void
  readonly onClose: () => void
}) => {
  const [typed, setTyped] = useState("")
  const save = useAtomSet(saveContacts)
  const count = contacts.length
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onDelete()
  }
  if (count === 0) {
    return (
      <>
        <p>No contact matches, so nothing would be deleted.</p>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </>
    )
  }
  return (
    <form onSubmit={submit} className="stack">
      <p>
        This would delete {people(count)}:{" "}
        {statuses.map(([status, number]) => `${number.toLocaleString()} ${status}`).join(", ")}.
      </p>
      <ul>
        {contacts.slice(0, 5).map(({ email, firstName = "", lastName = "" }) => (
          <li key={email}>
            <bdi>{email}</bdi> <bdi>{shortened(`${firstName} ${lastName}`)}</bdi>
          </li>
        ))}
        {count > 5 ? <li>and {(count - 5).toLocaleString()} more</li> : null}
      </ul>
      <button type="button" onClick={() => save({ name: "contacts-backup.json", contacts })}>
        Download a backup of them
      </button>
      {isSevere ? <NumberToType count={count} typed={typed} onType={setTyped} /> : null}
      <div className="buttons">
        <Confirmed>
          <button type="submit" className="danger" disabled={isDeleting || (isSevere && !isSure(typed, count))}>
            {isDeleting ? "Deleting…" : `Delete ${people(count)}`}
          </button>
        </Confirmed>
        <button type="button" onClick={onClose}>
          Keep them
        </button>
      </div>
    </form>
  )
}

const Deleted = ({
  count,
  left,
  onClose,
  run
}: {
  readonly count: number
  readonly left: number
  readonly run: string | undefined
  readonly onClose: () => void
}) => {
  const [undone, start] = useAtom(undo)
  return (
    <>
      <p role="status">
        {AsyncResult.isSuccess(undone)
          ? `${people(undone.value.new)} brought back.`
          : `Deleted ${people(count)}.${left > 0 ? ` ${people(left)} stayed, since others changed them or the service did not answer; look at them again.` : ""}`}
      </p>
      <Problem message={problemOf(undone)} />
      <div className="buttons">
        {AsyncResult.isSuccess(undone) || run === undefined ? null : (
          <Confirmed>
            <button type="button" disabled={undone.waiting} onClick={() => start(run)}>
              {undone.waiting ? "Bringing back…" : "Undo"}
            </button>
          </Confirmed>
        )}
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  )
}

const DeleteDialog = ({ meant, onClose }: { readonly meant: Meant; readonly onClose: () => void }) => {
  const registry = useRegistry()
  const [doomed, look] = useAtom(lookDoomed)
  const [deleted, start] = useAtom(deleteDoomed)
  useEffect(() => {
    // What a dialog before this one did is none of it.
    registry.set(deleteDoomed, Atom.Reset)
    registry.set(undo, Atom.Reset)
    look(meant)
  }, [registry, look, meant])
  const close = (): void => {
    if (AsyncResult.isSuccess(deleted)) registry.set(ContactAtoms.chosen, new Set<string>())
    onClose()
  }
  const report = AsyncResult.isSuccess(deleted) ? deleted.value : undefined
  return (
    <Dialog title="Delete contacts" onClose={close}>
      <Problem message={problemOf(doomed) ?? problemOf(deleted)} />
      {report !== undefined ? (
        <>
          <Problem message={report.stoppedBy?.message} />
          <Deleted count={report.done} left={report.read - report.done} run={report.run} onClose={close} />
        </>
      ) : AsyncResult.isSuccess(doomed) && !doomed.waiting ? (
        <Confirm
          doomed={doomed.value}
          isDeleting={deleted.waiting}
          onClose={close}
          onDelete={() => start(doomed.value.contacts)}
        />
      ) : (
        <div className="stack">
          {problemOf(doomed) === undefined ? <p role="status">Reading the contacts…</p> : null}
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      )}
      <CommandLine command={{ program: "contacts delete", ...meantOf(meant) }} />
    </Dialog>
  )
}

export default DeleteDialog
