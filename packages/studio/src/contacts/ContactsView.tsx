/** The contacts: a rule, how many it selects, a table of them, and one contact when it is opened. */
import { lazy, Suspense, useState } from "react"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Pager } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { CommandLine } from "../session/CommandLine.tsx"
import { missing } from "../session/Rights.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { allColumns } from "./ContactColumn.ts"
import { ContactTable } from "./ContactTable.tsx"
import type { Meant } from "./ContactSelection.ts"

const ContactCard = lazy(() => import("./ContactCard.tsx"))
const RuleBox = lazy(async () => ({ default: (await import("../rules/RuleBox.tsx")).RuleBox }))
const DeleteDialog = lazy(() => import("./DeleteDialog.tsx"))
const AddDialog = lazy(() => import("./AddDialog.tsx"))
const ChangeDialog = lazy(() => import("./ChangeDialog.tsx"))

/** What can be done with the contacts that are chosen, or that the rule selects. */
const Actions = ({ rule, total }: { readonly rule: string; readonly total: number }) => {
  const [chosen, setChosen] = useAtom(ContactAtoms.chosen)
  const setDoomed = useAtomSet(ContactAtoms.doomed)
  const setChanging = useAtomSet(ContactAtoms.changing)
  const reason = useAtomValue(missing("ModifyContacts"))
  const isFixed = reason !== undefined
  const isByRule = chosen.size === 0
  if (isByRule && (rule === "" || total === 0)) return isFixed ? <span>{reason}</span> : null
  const meant: Meant = isByRule ? { _tag: "ByRule", rule } : { _tag: "Chosen", emails: chosen }
  const of = isByRule ? " of all of the rule" : ""
  return (
    <>
      {isByRule ? null : <span aria-live="polite">{chosen.size.toLocaleString()} chosen</span>}
      <button type="button" disabled={isFixed} onClick={() => setChanging(meant)}>
        Set a field{of}…
      </button>
      {isByRule ? (
        <a className="button" href="#export">
          Export all of the rule
        </a>
      ) : null}
      <button type="button" className="danger" disabled={isFixed} onClick={() => setDoomed(meant)}>
        Delete{isByRule ? " all of the rule" : ""}…
      </button>
      {isByRule ? null : (
        <button type="button" onClick={() => setChosen(new Set<string>())}>
          Choose none
        </button>
      )}
      {isFixed ? <span>{reason}</span> : null}
    </>
  )
}

/** The dialogs that are open. */
const Dialogs = () => {
  const [isAdding, setAdding] = useAtom(ContactAtoms.isAdding)
  const [doomed, setDoomed] = useAtom(ContactAtoms.doomed)
  const [changing, setChanging] = useAtom(ContactAtoms.changing)
  const opened = useAtomValue(ContactAtoms.opened)
  return (
    <Suspense>
      {isAdding ? <AddDialog onClose={() => setAdding(false)} /> : null}
      {doomed === undefined ? null : <DeleteDialog meant={doomed} onClose={() => setDoomed(undefined)} />}
      {changing === undefined ? null : <ChangeDialog meant={changing} onClose={() => setChanging(undefined)} />}
      {opened === undefined ? null : <ContactCard key={opened} email={opened} />}
    </Suspense>
  )
}

/** What whoever sees no contact can do. */
const Nobody = ({ rule }: { readonly rule: string }) => (
  <p className="note">
    {rule === "" ? (
      <>
        There are no contacts yet. <a href="#import">Import a file</a>, or add one by hand.
      </>
    ) : (
      "No contact matches the rule."
    )}
  </p>
)

const Add = () => {
  const setAdding = useAtomSet(ContactAtoms.isAdding)
  const reason = useAtomValue(missing("ModifyContacts"))
  return (
    <button type="button" disabled={reason !== undefined} onClick={() => setAdding(true)}>
      Add a contact…
    </button>
  )
}

const Columns = () => {
  const [names, setNames] = useAtom(ContactAtoms.columns)
  const known = useAtomValue(AppliedRule.knownFields)
  return (
    <fieldset>
      <legend className="unseen">Columns to show</legend>
      {allColumns(known).map(({ name }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={names.includes(name)}
            onChange={(event) =>
              setNames(event.target.checked ? [...names, name] : names.filter((one) => one !== name))
            }
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}

const ColumnChoice = () => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="columns" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Columns</summary>
      {isOpen ? <Columns /> : null}
    </details>
  )
}

const Pages = ({ total }: { readonly total: number }) => {
  const [first, setFirst] = useAtom(ContactAtoms.first)
  return <Pager first={first} total={total} onFirst={setFirst} />
}

export const ContactsView = () => {
  const rule = useAtomValue(AppliedRule.rule)
  const count = useAtomValue(ContactAtoms.count)
  const total = useAtomValue(ContactAtoms.total)
  return (
    <section className="contacts" aria-labelledby="contacts-title">
      <h1 id="contacts-title" className="unseen">
        Contacts
      </h1>
      <Suspense fallback={<div className="rule" />}>
        <RuleBox />
      </Suspense>
      <div className="bar">
        {total === undefined ? <span>Counting…</span> : <Pages total={total} />}
        <ColumnChoice />
        <Add />
        {total === undefined ? null : <Actions rule={rule} total={total} />}
      </div>
      <Problem message={problemOf(count)} />
      {total === 0 ? <Nobody rule={rule} /> : null}
      <ContactTable />
      <CommandLine command={{ program: "contacts list", values: AppliedRule.selection(rule) }} />
      <Dialogs />
    </section>
  )
}
