/** Adds a contact by its address and name; it is opened then, for all else. */
import { AsyncResult, Atom } from "effect/reactivity"
import { type FormEvent, useEffect, useState } from "react"
import { useAtom, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { addContact, addCommand, type NewContact } from "./ContactEdit.ts"
import * as ContactAtoms from "./ContactAtoms.ts"

const fields = [
  ["email", "E-mail address"],
  ["firstName", "First name"],
  ["lastName", "Last name"]
] as const

const AddDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const registry = useRegistry()
  const [given, setGiven] = useState<NewContact>({ email: "", firstName: "", lastName: "" })
  const [added, add] = useAtom(addContact)
  const contact = { ...given, email: given.email.trim() }
  // What a dialog before this one did is none of it.
  useEffect(() => registry.set(addContact, Atom.Reset), [registry])
  useEffect(() => {
    if (!AsyncResult.isSuccess(added)) return
    registry.set(ContactAtoms.opened, added.value.email)
    onClose()
  }, [added, onClose, registry])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    add(contact)
  }
  return (
    <Dialog title="Add a contact" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {fields.map(([name, label]) => (
          <label key={name}>
            {label}
            <input
              autoComplete="off"
              spellCheck={false}
              inputMode={name === "email" ? "email" : "text"}
              value={given[name]}
              onChange={(event) => setGiven({ ...given, [name]: event.target.value })}
            />
          </label>
        ))}
        <Problem message={problemOf(added)} />
        <div className="buttons">
          <button type="submit" className="primary" disabled={contact.email === "" || added.waiting}>
            {added.waiting ? "Adding…" : "Add the contact"}
          </button>
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
      {contact.email === "" ? null : <CommandLine command={addCommand(contact)} />}
    </Dialog>
  )
}

export default AddDialog
