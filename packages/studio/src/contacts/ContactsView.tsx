/** The contacts: a rule, how many it selects, the grid, and one contact when it is opened. */
import { AsyncResult } from "effect/reactivity"
import { lazy, Suspense, useState } from "react"
import { useAtom, useAtomValue } from "../kit/Atoms.tsx"
import { CommandLine, commandOf } from "../kit/CommandLine.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { missing } from "../session/Rights.tsx"
import { session } from "../session/Session.ts"
import * as ContactAtoms from "./ContactAtoms.ts"
import { allColumns } from "./ContactColumn.ts"
import { ContactGrid } from "./ContactGrid.tsx"
import { RuleBox } from "./RuleBox.tsx"

const ContactCard = lazy(() => import("./ContactCard.tsx"))
const DeleteDialog = lazy(() => import("./DeleteDialog.tsx"))

/** What can be done with the contacts that are chosen, or that the rule selects. */
const Actions = ({ rule, total }: { readonly rule: string; readonly total: number }) => {
  const [chosen, setChosen] = useAtom(ContactAtoms.chosen)
  const [meant, setMeant] = useAtom(ContactAtoms.doomed)
  const reason = useAtomValue(missing("ModifyContacts"))
  const isFixed = reason !== undefined
  return (
    <>
      {chosen.size === 0 ? null : (
        <>
          <span aria-live="polite">{chosen.size.toLocaleString()} chosen</span>
          <button
            type="button"
            className="danger"
            disabled={isFixed}
            onClick={() => setMeant({ _tag: "Chosen", emails: chosen })}
          >
            Delete…
          </button>
          <button type="button" onClick={() => setChosen(new Set<string>())}>
            Choose none
          </button>
        </>
      )}
      {chosen.size > 0 || rule === "" || total === 0 ? null : (
        <button type="button" className="danger" disabled={isFixed} onClick={() => setMeant({ _tag: "ByRule", rule })}>
          Delete all of the rule…
        </button>
      )}
      {isFixed ? <span>{reason}</span> : null}
      {meant === undefined ? null : (
        <Suspense>
          <DeleteDialog meant={meant} onClose={() => setMeant(undefined)} />
        </Suspense>
      )}
    </>
  )
}

const Columns = () => {
  const [names, setNames] = useAtom(ContactAtoms.columns)
  const known = useAtomValue(ContactAtoms.knownFields)
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

const Found = ({ rule, total }: { readonly rule: string; readonly total: number }) => (
  <p aria-live="polite" className="found">
    {total.toLocaleString()} {total === 1 ? "contact" : "contacts"}
    {rule !== "" && total > ContactAtoms.maximumByRule
      ? `; the first ${ContactAtoms.maximumByRule.toLocaleString()} can be seen here, and an export has all`
      : ""}
  </p>
)

export const ContactsView = () => {
  const rule = useAtomValue(ContactAtoms.rule)
  const count = useAtomValue(ContactAtoms.count)
  const opened = useAtomValue(ContactAtoms.opened)
  const flags = useAtomValue(session)?.host?.flags
  const total = AsyncResult.isSuccess(count) ? count.value : undefined
  return (
    <section className="contacts" aria-labelledby="contacts-title">
      <h1 id="contacts-title" className="unseen">
        Contacts
      </h1>
      <RuleBox />
      <div className="bar">
        {total === undefined ? <p className="found">Counting…</p> : <Found rule={rule} total={total} />}
        <ColumnChoice />
        {total === undefined ? null : <Actions rule={rule} total={total} />}
      </div>
      <Problem message={problemOf(count)} />
      {total === undefined ? null : <ContactGrid total={total} />}
      <CommandLine command={commandOf(["contacts", "list", ...(rule === "" ? [] : ["--rule", rule])], flags)} />
      {opened === undefined ? null : (
        <Suspense>
          <ContactCard key={opened} email={opened} />
        </Suspense>
      )}
    </section>
  )
}
