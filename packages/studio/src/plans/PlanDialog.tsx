/** What a person is about to do to contacts: said in a form, seen as a plan, and applied, whose result then stands on the page. */
import { AsyncResult, Atom } from "effect/reactivity"
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "preact/compat"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import { isSaid, listQuestion, type NewValue, type Wanted } from "../contacts/ContactSelection.ts"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { useAskedClose } from "../session/Unsaved.tsx"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { CommandLine } from "../session/CommandLine.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import { planTexts } from "../texts/PlanTexts.ts"
import { fieldTitle, people, sharedTexts } from "../texts/SharedTexts.ts"
import * as ContactPlan from "./ContactPlan.ts"
import { NewValueFields } from "./NewValueFields.tsx"
import { Preview } from "./Preview.tsx"

interface Props<Of extends Wanted> {
  readonly begun: Of
  readonly onClose: () => void
}

/** What leads on, beside what closes the dialog. */
const Buttons = ({ children, onClose }: Pick<Props<Wanted>, "onClose"> & { readonly children?: ReactNode }) => (
  <div className="buttons">
    {children}
    <button type="button" onClick={onClose}>
      {sharedTexts.close}
    </button>
  </div>
)

const Command = ({ of }: { readonly of: Wanted }) => (
  <CommandLine command={ContactPlan.commandOf(of, useAtomValue(AppliedRule.knownLists))} />
)

// A new contact

const newFields = [
  ["email", sharedTexts.fieldsOfErrors.email],
  ["firstName", fieldTitle("FirstName")],
  ["lastName", fieldTitle("LastName")]
] as const

const AddDialog = ({ begun, onClose }: Props<ContactPlan.Add>) => {
  const [wanted, setWanted] = useState(begun)
  const [added, add] = useAtom(ContactPlan.add)
  const open = useAtomSet(ContactAtoms.opened)
  const email = wanted.contact.email.trim()
  // What a dialog before this one added is none of it.
  const before = useRef(added)
  const { close, question } = useAskedClose(wanted !== begun, onClose)
  useEffect(() => {
    if (added === before.current || !AsyncResult.isSuccess(added) || added.waiting) return
    open(ContactPlan.titleOf(added.value.of))
    onClose()
  }, [added, onClose, open])
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    add(wanted)
  }
  return (
    <Dialog title={planTexts.add} onClose={close}>
      {question}
      <form className="stack" onSubmit={submit}>
        {newFields.map(([name, label]) => (
          <label key={name}>
            {label}
            <input
              autoComplete="off"
              spellcheck={false}
              inputMode={name === "email" ? "email" : "text"}
              value={wanted.contact[name]}
              onChange={({ currentTarget }) =>
                setWanted({ ...wanted, contact: { ...wanted.contact, [name]: currentTarget.value } })
              }
            />
          </label>
        ))}
        <Problem message={added === before.current ? undefined : problemOf(added)} />
        {added.waiting ? <p role="status">{planTexts.writing}</p> : null}
        <Buttons onClose={close}>
          <button type="submit" className="primary" disabled={email === "" || added.waiting}>
            {planTexts.addIt}
          </button>
        </Buttons>
      </form>
      {email === "" ? null : <Command of={wanted} />}
    </Dialog>
  )
}

// A list that goes

const DeleteListDialog = ({ begun, onClose }: Props<ContactPlan.DeleteList>) => {
  const [applied, apply] = useAtom(ContactPlan.apply)
  const { contacts, name } = begun
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    apply(begun)
    onClose()
  }
  return (
    <Dialog title={planTexts.deleteList(name)} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p role="status">
          {contacts === undefined
            ? planTexts.untold
            : contacts === 0
              ? planTexts.nobodyOn
              : planTexts.theyStay(contacts)}
        </p>
        <Buttons onClose={onClose}>
          <Confirmed count={contacts === undefined || contacts <= ContactPlan.mostByClick ? undefined : contacts}>
            <button type="submit" className="danger" disabled={applied.waiting}>
              {planTexts.deleteIt}
            </button>
          </Confirmed>
        </Buttons>
      </form>
      <Command of={begun} />
    </Dialog>
  )
}

// A change, or a deletion

/** Whom it is done to: of a filter their number, since its text is the program's and not the reader's. */
const whom = (of: ContactPlan.Planable, chosen: number): string =>
  of._tag !== "AddMany" && of.meant._tag === "ByRule" ? people(chosen) : ContactPlan.titleOf(of)

const isGiven = (to: NewValue, lists: ReadonlyArray<string>): boolean =>
  to.field === "list"
    ? isSaid(listQuestion(to, to.isOn, lists))
    : to.field === "status"
      ? to.value !== undefined
      : to.field !== "custom" || to.name.trim() !== ""

const ChangeDialog = ({ begun, onClose }: Props<ContactPlan.Planable>) => {
  const registry = useRegistry()
  const [wanted, setWanted] = useState(begun)
  const [planned, plan] = useAtom(ContactPlan.plan)
  const [applied, apply] = useAtom(ContactPlan.apply)
  const read = useAtomValue(ContactPlan.progress)
  const lists = useAtomValue(AppliedRule.knownLists)
  const chosen = useAtomValue(ContactAtoms.numberChosen)
  useEffect(() => {
    // What a dialog before this one planned is none of it.
    registry.set(ContactPlan.plan, Atom.Reset)
    if (begun._tag !== "Change") plan(begun)
  }, [begun, plan, registry])
  const change = (next: ContactPlan.Change): void => {
    setWanted(next)
    registry.set(ContactPlan.plan, Atom.Reset)
  }
  const planAgain = (next: ContactPlan.Change): void => {
    setWanted(next)
    plan(next)
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    plan(wanted)
  }
  const isReady = wanted._tag !== "Change" || isGiven(wanted.to, lists)
  const isPlanned = AsyncResult.isSuccess(planned) && !planned.waiting
  return (
    <Dialog
      title={planTexts.title(
        wanted._tag === "Change" ? planTexts.titles[wanted.to.field] : planTexts.verbs[wanted._tag],
        whom(wanted, chosen)
      )}
      onClose={onClose}
    >
      {wanted._tag !== "Change" ? null : (
        <form className="stack" onSubmit={submit}>
          <NewValueFields to={wanted.to} onChange={(to) => change({ ...wanted, to })} />
          {isPlanned ? null : (
            <Buttons onClose={onClose}>
              <button type="submit" className="primary" disabled={!isReady || planned.waiting}>
                {planTexts.show}
              </button>
            </Buttons>
          )}
        </form>
      )}
      <Problem message={problemOf(planned)} />
      {planned.waiting ? (
        <p>
          <span role="status">{sharedTexts.readingContacts}</span> {read === 0 ? "" : planTexts.soFar(read)}
        </p>
      ) : null}
      {applied.waiting ? <p role="status">{planTexts.otherIsWritten}</p> : null}
      {isPlanned && !applied.waiting ? (
        <Preview
          planned={planned.value}
          onApply={() => {
            apply(planned.value)
            onClose()
          }}
          onPlan={planAgain}
          onClose={onClose}
        />
      ) : wanted._tag !== "Change" || isPlanned ? (
        <Buttons onClose={onClose} />
      ) : null}
      {isReady ? <Command of={wanted} /> : null}
    </Dialog>
  )
}

/** The dialog of what a person is about to do. */
export const PlanDialog = ({ begun, onClose }: Props<Wanted>) =>
  begun._tag === "Add" ? (
    <AddDialog begun={begun} onClose={onClose} />
  ) : begun._tag === "DeleteList" ? (
    <DeleteListDialog begun={begun} onClose={onClose} />
  ) : (
    <ChangeDialog begun={begun} onClose={onClose} />
  )
