/**
 * One contact, whole. Its status, names and custom fields are edited in place, and only what changed is sent, as a run. Before
 * somebody who left gets mail, the page asks.
 */
import { type Contact, ContactStatus } from "@roster/domain"
import { ContactFields } from "@roster/domain/internal"
import { resubscribeWords } from "@roster/workflows"
import { AsyncResult, Atom } from "effect/reactivity"
import { type FormEvent, useEffect, useRef, useState } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { fieldTitle } from "../kit/FieldTitles.ts"
import { Icon } from "../kit/Icon.tsx"
import { statusWords } from "../kit/Mark.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Shown } from "../kit/Times.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { missing } from "../session/Rights.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import { ContactHistory } from "./ContactHistory.tsx"
import { ContactLists } from "./ContactLists.tsx"
import { shownOf } from "./ContactColumn.ts"
import {
  askedOf,
  changeCommand,
  changesOf,
  draft,
  type Edited,
  editedOf,
  saveRecord,
  updateContact
} from "./ContactEdit.ts"
import { wanted } from "./ContactSelection.ts"
import * as HistoryAtoms from "./HistoryAtoms.ts"
import { NearField } from "./NearField.tsx"

/** What the service alone sets. */
const Facts = ({ contact }: { readonly contact: Contact }) => (
  <dl className="facts">
    {ContactFields.allFields.flatMap(({ read, wire }) => {
      const value = shownOf(read(contact))
      return value === "" || wire === "Status" || wire === "FirstName" || wire === "LastName"
        ? []
        : [
            <div key={wire}>
              <dt>{fieldTitle(wire)}</dt>
              <dd>
                <Shown value={value} />
              </dd>
            </div>
          ]
    })}
  </dl>
)

/** The statuses to choose from; a service may have given another one. */
const statusesOf = ({ status }: Contact): ReadonlyArray<string> => [
  ...new Set<string>([status ?? "", ...ContactStatus.literals])
]

const Fields = ({ contact }: { readonly contact: Contact }) => {
  const { email } = contact
  const [kept, setKept] = useAtom(draft)
  const edited = kept?.email === email ? kept.edited : editedOf(contact)
  const setEdited = (edited: Edited): void => setKept({ email, edited })
  const [update, run] = useAtom(updateContact)
  const changes = changesOf(contact, edited)
  const isEdited = changes !== undefined
  const before = useRef(update)
  useEffect(() => {
    if (update !== before.current && AsyncResult.isSuccess(update) && !update.waiting) setKept(undefined)
    before.current = update
  }, [update])
  useEffect(() => {
    if (!isEdited) return
    // The browser asks before the page goes.
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    globalThis.addEventListener("beforeunload", ask)
    return () => globalThis.removeEventListener("beforeunload", ask)
  }, [isEdited])
  const reason = useAtomValue(missing("ModifyContacts"))
  const set = (at: number, part: Partial<Edited["custom"][number]>): void =>
    setEdited({
      ...edited,
      custom: edited.custom.map((field, index) => (index === at ? { ...field, ...part } : field))
    })
  const asked = askedOf(email, update)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (changes !== undefined) run({ email, changes })
  }
  return (
    <form onSubmit={submit}>
      <div className="fields">
        <label>
          Status
          <select
            value={edited.status}
            onChange={({ currentTarget }) => setEdited({ ...edited, status: currentTarget.value })}
          >
            {statusesOf(contact).map((status) => (
              <option key={status} value={status}>
                {statusWords(status)}
              </option>
            ))}
          </select>
        </label>
        <label>
          First name
          <input
            value={edited.firstName}
            onChange={(event) => setEdited({ ...edited, firstName: event.currentTarget.value })}
          />
        </label>
        <label>
          Last name
          <input
            value={edited.lastName}
            onChange={(event) => setEdited({ ...edited, lastName: event.currentTarget.value })}
          />
        </label>
        {edited.custom.map((field, at) =>
          field.isNew ? (
            <fieldset key={`new ${at}`} className="new-field">
              <legend className="unseen">New field</legend>
              <label>
                Name
                <input value={field.name} onChange={(event) => set(at, { name: event.currentTarget.value })} />
              </label>
              <label>
                Value
                <input value={field.value} onChange={(event) => set(at, { value: event.currentTarget.value })} />
              </label>
              <NearField name={field.name} onTake={(name) => set(at, { name })} />
            </fieldset>
          ) : (
            <label key={field.name}>
              {field.name}
              <input value={field.value} onChange={(event) => set(at, { value: event.currentTarget.value })} />
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
      {asked === undefined ? <Problem message={problemOf(update)} /> : null}
      {asked === undefined || changes?.status === undefined ? null : (
        <div className="note" role="alert">
          <p>{resubscribeWords(asked).fact}</p>
          <button type="button" onClick={() => run({ email, changes, resubscribe: [asked.status] })}>
            {resubscribeWords(asked).question}: save
          </button>
        </div>
      )}
      {changes === undefined ? null : <CommandLine command={changeCommand(email, changes)} />}
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

const notAsked = Atom.make(AsyncResult.initial())

/** What else can be done with one person. What is printed has the history. */
const Person = ({ contact, onClose }: { readonly contact: Contact; readonly onClose: () => void }) => {
  const registry = useRegistry()
  const save = useAtomSet(saveRecord)
  const isFixed = useAtomValue(missing("ModifyContacts")) !== undefined
  const meant = { _tag: "Chosen", emails: new Set([contact.email]) } as const
  const remove = (): void => {
    registry.set(ContactAtoms.opened, undefined)
    registry.set(wanted, { _tag: "Delete", meant })
  }
  const [isPrinted, setPrinted] = useState(false)
  const history = useAtomValue(isPrinted ? HistoryAtoms.history(contact.email) : notAsked)
  const isRead = isPrinted && !AsyncResult.isInitial(history)
  useEffect(() => {
    if (!isRead) return
    setPrinted(false)
    // The history is drawn first.
    requestAnimationFrame(() => setTimeout(() => globalThis.print()))
  }, [isRead])
  return (
    <div className="buttons">
      <button type="button" onClick={() => save(contact)}>
        <Icon name="export" />
        Download the record
      </button>
      <button
        type="button"
        onClick={() => {
          registry.set(HistoryAtoms.historyShown, true)
          setPrinted(true)
        }}
      >
        <Icon name="print" />
        Print
      </button>
      <button type="button" className="danger" disabled={isFixed} onClick={remove}>
        <Icon name="delete" />
        Delete…
      </button>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  )
}

export const ContactCard = ({ email }: { readonly email: string }) => {
  const contact = useAtomValue(ContactAtoms.contact(email))
  const setOpened = useAtomSet(ContactAtoms.opened)
  const [kept, setKept] = useAtom(draft)
  const [isAsking, setAsking] = useState(false)
  const leave = (): void => {
    setKept(undefined)
    setOpened(undefined)
  }
  // What is edited stays while the contact cannot be read again, or is read with another key.
  const last = useRef<Contact>(undefined)
  if (AsyncResult.isSuccess(contact)) last.current = contact.value
  const { current } = last
  const isEdited = current !== undefined && kept?.email === email && changesOf(current, kept.edited) !== undefined
  const close = (): void => (isEdited ? setAsking(true) : leave())
  return (
    <Dialog title={email} onClose={close}>
      <Problem message={problemOf(contact)} />
      {isAsking && isEdited ? (
        <div className="note" role="alert">
          <p>What you have edited is not saved.</p>
          <div className="buttons">
            <button type="button" onClick={() => setAsking(false)}>
              Go on editing
            </button>
            <button type="button" className="danger" onClick={leave}>
              Close without saving
            </button>
          </div>
        </div>
      ) : null}
      {current !== undefined ? (
        <>
          <Fields key={JSON.stringify(editedOf(current))} contact={current} />
          <ContactLists contact={current} onClose={close} />
          <ContactHistory email={email} />
          <Person contact={current} onClose={close} />
        </>
      ) : (
        <>
          <ContactHistory email={email} />
          <button type="button" onClick={close}>
            Close
          </button>
        </>
      )}
    </Dialog>
  )
}
