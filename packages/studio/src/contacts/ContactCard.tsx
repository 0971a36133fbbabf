/**
 * One contact, whole. Its status, names and custom fields are edited in place, and only what changed is sent, as a run. Before
 * somebody who left gets mail, the page asks, and where others changed the same fields meanwhile it shows both.
 */
import { type Contact, ContactStatus, isMailedStatus } from "@roster/domain"
import { ContactFields } from "@roster/domain/internal"
import { resubscribeWords } from "@roster/workflows"
import { AsyncResult, Atom } from "effect/reactivity"
import { type FormEvent, useEffect, useRef, useState } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { Dialog } from "../kit/Dialog.tsx"
import { Icon } from "../kit/Icon.tsx"
import { Choices } from "../kit/Mark.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Shown } from "../kit/Times.tsx"
import { Asked, useAskedClose } from "../session/Unsaved.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { missing } from "../session/Rights.tsx"
import { UndoButton } from "../session/Undo.tsx"
import { cardTexts } from "../texts/CardTexts.ts"
import { fieldTitle, sharedTexts, statusWords, valueWords } from "../texts/SharedTexts.ts"
import * as ContactAtoms from "./ContactAtoms.ts"
import { ContactHistory } from "./ContactHistory.tsx"
import { ContactLists } from "./ContactLists.tsx"
import { shownOf } from "./ContactColumn.ts"
import {
  askedOf,
  changeCommand,
  changesOf,
  type Conflict,
  draft,
  type Edited,
  editedOf,
  mergedWith,
  saveRecord,
  settled,
  updateContact
} from "./ContactEdit.ts"
import { wanted } from "./ContactSelection.ts"
import * as HistoryAtoms from "./HistoryAtoms.ts"
import { NearField } from "./NearField.tsx"

/** What the service alone sets, and what the status means. */
const Facts = ({ contact }: { readonly contact: Contact }) => (
  <dl className="facts">
    <div>
      <dt>{sharedTexts.mail}</dt>
      <dd>
        {isMailedStatus(contact.status)
          ? sharedTexts.getsMail
          : cardTexts.getsNone(statusWords(contact.status ?? "") || cardTexts.notKnown)}
      </dd>
    </div>
    {ContactFields.allFields.flatMap(({ read, wire }) => {
      const value = shownOf(read(contact))
      return value === "" || wire === "Email" || wire === "Status" || wire === "FirstName" || wire === "LastName"
        ? []
        : [
            <div key={wire}>
              <dt>{fieldTitle(wire)}</dt>
              <dd>
                <Shown value={typeof value === "string" ? valueWords(wire, value) : value} />
              </dd>
            </div>
          ]
    })}
  </dl>
)

/** The statuses to choose from; a service may have given another one. */
const statusesOf = ({ status }: Contact): ReadonlyArray<string> => [
  ...new Set<string>([...ContactStatus.literals, status ?? ""])
]

/** What a person and others wrote into the same fields, and whose is kept of each. */
const Conflicts = ({
  conflicts,
  onSettle
}: {
  readonly conflicts: ReadonlyArray<Conflict>
  readonly onSettle: (staysMine: (field: string) => boolean) => void
}) => {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map())
  const textOf = ({ field }: Conflict, text: string): string =>
    (field === "status" ? statusWords(text) : text) || sharedTexts.none
  return (
    <Asked>
      <p>{cardTexts.conflict}</p>
      {conflicts.map((conflict) => (
        <fieldset key={conflict.field} className="kinds">
          <legend>
            <bdi>{conflict.title}</bdi>
          </legend>
          {([true, false] as const).map((isMine) => (
            <label key={String(isMine)} className="choice">
              <input
                type="radio"
                name={`conflict ${conflict.field}`}
                checked={chosen.get(conflict.field) === isMine}
                onChange={() => setChosen(new Map(chosen).set(conflict.field, isMine))}
              />
              {isMine
                ? cardTexts.mine(<bdi>{textOf(conflict, conflict.mine)}</bdi>)
                : cardTexts.now(<bdi>{textOf(conflict, conflict.now)}</bdi>)}
            </label>
          ))}
        </fieldset>
      ))}
      <div className="buttons">
        <button
          type="button"
          className="primary"
          disabled={conflicts.some(({ field }) => !chosen.has(field))}
          onClick={() => onSettle((field) => chosen.get(field) === true)}
        >
          {cardTexts.goOn}
        </button>
      </div>
    </Asked>
  )
}

const Fields = ({ contact }: { readonly contact: Contact }) => {
  const { email } = contact
  const [kept, setKept] = useAtom(draft)
  const begun = kept?.email === email ? kept : { email, seen: contact, edited: editedOf(contact) }
  const { conflicts, edited } = mergedWith(begun, contact)
  const isUnsettled = conflicts.length > 0
  const setEdited = (edited: Edited): void => setKept({ email, seen: contact, edited })
  const [update, run] = useAtom(updateContact)
  const changes = changesOf(contact, edited)
  const before = useRef(update)
  useEffect(() => {
    if (update !== before.current && AsyncResult.isSuccess(update) && !update.waiting) setKept(undefined)
    before.current = update
  }, [update])
  const reason = useAtomValue(missing("ModifyContacts"))
  const set = (at: number, part: Partial<Edited["custom"][number]>): void =>
    setEdited({
      ...edited,
      custom: edited.custom.map((field, index) => (index === at ? { ...field, ...part } : field))
    })
  const asked = askedOf(email, update)
  const done = AsyncResult.isSuccess(update) && !update.waiting ? update.value : undefined
  const saved = done?.email === email && changes === undefined ? done : undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (changes !== undefined && !isUnsettled) run({ email, changes, seen: contact })
  }
  const settle = (staysMine: (field: string) => boolean): void => {
    setKept(settled(begun, contact, staysMine))
    run(Atom.Reset)
  }
  return (
    <form onSubmit={submit}>
      {isUnsettled ? <Conflicts key={JSON.stringify(conflicts)} conflicts={conflicts} onSettle={settle} /> : null}
      <fieldset className="needs" disabled={isUnsettled}>
        <div className="fields">
          <label>
            {fieldTitle("Status")}
            <select
              value={edited.status}
              onChange={({ currentTarget }) => setEdited({ ...edited, status: currentTarget.value })}
            >
              <Choices of={statusesOf(contact)} />
            </select>
          </label>
          <label>
            {fieldTitle("FirstName")}
            <input
              value={edited.firstName}
              onChange={(event) => setEdited({ ...edited, firstName: event.currentTarget.value })}
            />
          </label>
          <label>
            {fieldTitle("LastName")}
            <input
              value={edited.lastName}
              onChange={(event) => setEdited({ ...edited, lastName: event.currentTarget.value })}
            />
          </label>
          {edited.custom.map((field, at) =>
            field.isNew ? (
              <fieldset key={`new ${at}`} className="new-field">
                <legend className="unseen">{cardTexts.newField}</legend>
                <label>
                  {sharedTexts.name}
                  <input value={field.name} onChange={(event) => set(at, { name: event.currentTarget.value })} />
                </label>
                <label>
                  {cardTexts.value}
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
          {cardTexts.addField}
        </button>
      </fieldset>
      <Facts contact={contact} />
      {asked === undefined && !isUnsettled ? <Problem message={problemOf(update)} /> : null}
      {asked === undefined || changes?.status === undefined || isUnsettled ? null : (
        <Asked>
          <p>{resubscribeWords(asked).fact}</p>
          <div className="buttons">
            <button type="button" onClick={() => run({ email, changes, seen: contact, resubscribe: [asked.status] })}>
              {cardTexts.answer(resubscribeWords(asked).question)}
            </button>
          </div>
        </Asked>
      )}
      {changes === undefined ? null : <CommandLine command={changeCommand(email, changes)} />}
      <p aria-live="polite">{saved === undefined ? "" : cardTexts.saved}</p>
      {saved === undefined || saved.run === "" ? null : (
        <UndoButton key={saved.run} run={saved.run} title={sharedTexts.undo} total={1} />
      )}
      <div className="buttons">
        <button
          type="submit"
          className="primary"
          disabled={changes === undefined || isUnsettled || update.waiting || reason !== undefined}
        >
          {update.waiting ? cardTexts.saving : cardTexts.save}
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
        {cardTexts.download}
      </button>
      <button
        type="button"
        onClick={() => {
          registry.set(HistoryAtoms.historyShown, true)
          setPrinted(true)
        }}
      >
        <Icon name="print" />
        {cardTexts.print}
      </button>
      <button type="button" className="danger" disabled={isFixed} onClick={remove}>
        <Icon name="delete" />
        {sharedTexts.delete}
      </button>
      <button type="button" className="last" onClick={onClose}>
        {sharedTexts.close}
      </button>
    </div>
  )
}

export const ContactCard = ({ email }: { readonly email: string }) => {
  const contact = useAtomValue(ContactAtoms.contact(email))
  const setOpened = useAtomSet(ContactAtoms.opened)
  const [kept, setKept] = useAtom(draft)
  const leave = (): void => {
    setKept(undefined)
    setOpened(undefined)
  }
  // What is edited stays while the contact cannot be read again, or is read with another key.
  const last = useRef<Contact>(undefined)
  if (AsyncResult.isSuccess(contact)) last.current = contact.value
  const { current } = last
  const merged = current !== undefined && kept?.email === email ? mergedWith(kept, current) : undefined
  const isEdited =
    current !== undefined &&
    merged !== undefined &&
    (merged.conflicts.length > 0 || changesOf(current, merged.edited) !== undefined)
  const { close, question } = useAskedClose(isEdited, leave)
  return (
    <Dialog title={email} onClose={close}>
      <Problem message={problemOf(contact)} />
      {question}
      {current !== undefined ? (
        <>
          <Fields contact={current} />
          <ContactLists contact={current} onClose={close} />
          <ContactHistory email={email} />
          <Person contact={current} onClose={close} />
        </>
      ) : (
        <>
          <ContactHistory email={email} />
          <button type="button" onClick={close}>
            {sharedTexts.close}
          </button>
        </>
      )}
    </Dialog>
  )
}
