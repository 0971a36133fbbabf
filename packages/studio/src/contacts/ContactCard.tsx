/** One contact, whole. Its names and custom fields are edited in place, and only what changed is sent, as a run. */
import { type Contact, ContactFields } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, useState } from "react"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { missing } from "../session/Rights.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import { textOf } from "./ContactColumn.ts"
import { changesOf, type Edited, editedOf, saveRecord, updateCommand, updateContact } from "./ContactEdit.ts"
import { wanted } from "./ContactSelection.ts"

/** What the service alone sets. */
const Facts = ({ contact }: { readonly contact: Contact }) => (
  <dl className="facts">
    {ContactFields.allFields.flatMap(({ read, wire }) => {
      const text = textOf(read(contact))
      return text === "" || wire === "FirstName" || wire === "LastName"
        ? []
        : [
            <div key={wire}>
              <dt>{wire}</dt>
              <dd>{text}</dd>
            </div>
          ]
    })}
  </dl>
)

const Fields = ({ contact }: { readonly contact: Contact }) => {
  const [edited, setEdited] = useState<Edited>(() => editedOf(contact))
  const [update, run] = useAtom(updateContact)
  const changes = changesOf(contact, edited)
  const reason = useAtomValue(missing("ModifyContacts"))
  const set = (at: number, part: Partial<Edited["custom"][number]>): void =>
    setEdited({
      ...edited,
      custom: edited.custom.map((field, index) => (index === at ? { ...field, ...part } : field))
    })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (changes !== undefined) run({ email: contact.email, changes })
  }
  return (
    <form onSubmit={submit}>
      <div className="fields">
        <label>
          First name
          <input
            value={edited.firstName}
            onChange={(event) => setEdited({ ...edited, firstName: event.target.value })}
          />
        </label>
        <label>
          Last name
          <input value={edited.lastName} onChange={(event) => setEdited({ ...edited, lastName: event.target.value })} />
        </label>
        {edited.custom.map((field, at) =>
          field.isNew ? (
            <fieldset key={`new ${at}`} className="new-field">
              <legend className="unseen">New field</legend>
              <label>
                Name
                <input value={field.name} onChange={(event) => set(at, { name: event.target.value })} />
              </label>
              <label>
                Value
                <input value={field.value} onChange={(event) => set(at, { value: event.target.value })} />
              </label>
            </fieldset>
          ) : (
            <label key={field.name}>
              {field.name}
              <input value={field.value} onChange={(event) => set(at, { value: event.target.value })} />
            </label>
          )
        )}
      </div>
      <button
        type="button"
        onClick={() => setEdited({ ...edited, custom: [...edited.custom, { name: "", value: "", isNew: true }] })}
      >
        Add a field
      </button>
      <Facts contact={contact} />
      <Problem message={problemOf(update)} />
      {changes === undefined ? null : <CommandLine command={updateCommand({ given: [contact.email] }, changes)} />}
      <p aria-live="polite">
        {AsyncResult.isSuccess(update) && !update.waiting && changes === undefined ? "Saved." : ""}
      </p>
      <div className="buttons">
        <button
          type="submit"
          className="primary"
          disabled={changes === undefined || update.waiting || reason !== undefined}
        >
          {update.waiting ? "Saving…" : "Save"}
        </button>
        <span>{reason}</span>
      </div>
    </form>
  )
}

/** What else can be done with one person. */
const Person = ({ contact, onClose }: { readonly contact: Contact; readonly onClose: () => void }) => {
  const registry = useRegistry()
  const save = useAtomSet(saveRecord)
  const isFixed = useAtomValue(missing("ModifyContacts")) !== undefined
  const meant = { _tag: "Chosen", emails: new Set([contact.email]) } as const
  const remove = (): void => {
    registry.set(ContactAtoms.opened, undefined)
    registry.set(wanted, { _tag: "Delete", meant })
  }
  return (
    <div className="buttons">
      <button
        type="button"
        disabled={isFixed}
        onClick={() =>
          registry.set(wanted, { _tag: "Change", meant, to: { field: "status", value: "Active", resubscribe: false } })
        }
      >
        Change the status…
      </button>
      <button type="button" onClick={() => save(contact)}>
        Download the record
      </button>
      <button type="button" className="danger" disabled={isFixed} onClick={remove}>
        Delete…
      </button>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  )
}

const ContactCard = ({ email }: { readonly email: string }) => {
  const contact = useAtomValue(ContactAtoms.contact(email))
  const setOpened = useAtomSet(ContactAtoms.opened)
  const close = (): void => setOpened(undefined)
  return (
    <Dialog title={email} onClose={close}>
      {AsyncResult.isSuccess(contact) ? (
        <>
          <Fields key={JSON.stringify(editedOf(contact.value))} contact={contact.value} />
          <Person contact={contact.value} onClose={close} />
        </>
      ) : (
        <>
          <Problem message={problemOf(contact)} />
          <button type="button" onClick={close}>
            Close
          </button>
        </>
      )}
    </Dialog>
  )
}

export default ContactCard
