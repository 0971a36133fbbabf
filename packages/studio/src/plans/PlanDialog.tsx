/** What a person does to contacts: said in a form, seen as a plan, applied, and undone. */
import { ContactStatus } from "@roster/domain"
import { recipientWords, reportWords } from "@roster/workflows"
import { Schema } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { type FormEvent, useEffect, useState } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { people } from "../kit/Counts.ts"
import { Dialog } from "../kit/Dialog.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { shortened } from "../kit/Shortened.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { CommandLine } from "../session/CommandLine.tsx"
import { Confirmed } from "../session/Confirmed.tsx"
import type { Ended } from "../session/RunEnd.ts"
import { UndoButton } from "../session/Undo.tsx"
import * as ContactAtoms from "../contacts/ContactAtoms.ts"
import * as ContactPlan from "./ContactPlan.ts"
import type { NewValue, Wanted } from "../contacts/ContactSelection.ts"
import { Unplaced } from "../contacts/Unplaced.tsx"
import { NearField } from "../contacts/NearField.tsx"

type Add = Extract<Wanted, { readonly _tag: "Add" }>
type Change = Extract<Wanted, { readonly _tag: "Change" }>

const newFields = [
  ["email", "E-mail address"],
  ["firstName", "First name"],
  ["lastName", "Last name"]
] as const

const NewContactFields = ({ onChange, wanted }: { readonly wanted: Add; readonly onChange: (wanted: Add) => void }) =>
  newFields.map(([name, label]) => (
    <label key={name}>
      {label}
      <input
        autoComplete="off"
        spellcheck={false}
        inputMode={name === "email" ? "email" : "text"}
        value={wanted.contact[name]}
        onChange={({ currentTarget }) =>
          onChange({ ...wanted, contact: { ...wanted.contact, [name]: currentTarget.value } })
        }
      />
    </label>
  ))

const isStatus = Schema.is(ContactStatus)

/** What a field begins with. */
const fields = {
  custom: ["a custom field", { field: "custom", name: "", value: "" }],
  firstName: ["First name", { field: "firstName", value: "" }],
  lastName: ["Last name", { field: "lastName", value: "" }],
  status: ["Status", { field: "status", value: "Active", resubscribe: false }]
} as const satisfies Record<string, readonly [string, NewValue]>

const isField = (text: string): text is keyof typeof fields => Object.hasOwn(fields, text)

const NewValueFields = ({
  onChange,
  wanted
}: {
  readonly wanted: Change
  readonly onChange: (wanted: Change) => void
}) => {
  const fieldsInUse = useAtomValue(AppliedRule.knownFields)
  const { to } = wanted
  const set = (to: NewValue): void => onChange({ ...wanted, to })
  return (
    <>
      <label>
        Field
        <select
          value={to.field}
          onChange={({ currentTarget: { value } }) => (isField(value) ? set(fields[value][1]) : undefined)}
        >
          {Object.entries(fields).map(([field, [title]]) => (
            <option key={field} value={field}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {to.field === "custom" ? (
        <>
          <label>
            Its name
            <input
              list="fields-in-use"
              autoComplete="off"
              value={to.name}
              onChange={({ currentTarget }) => set({ ...to, name: currentTarget.value })}
            />
            <datalist id="fields-in-use">
              {fieldsInUse?.fields.flatMap(({ isCustom, name }) =>
                isCustom ? [<option key={name} value={name} />] : []
              )}
            </datalist>
          </label>
          <NearField name={to.name} onTake={(name) => set({ ...to, name })} />
        </>
      ) : null}
      {to.field === "status" ? (
        <>
          <label>
            New status
            <select
              value={to.value}
              onChange={({ currentTarget: { value } }) => (isStatus(value) ? set({ ...to, value }) : undefined)}
            >
              {ContactStatus.literals.map((status) => (
                <option key={status}>{status}</option>
              ))}
            </select>
          </label>
          <label className="choice">
            <input
              type="checkbox"
              checked={to.resubscribe}
              onChange={({ currentTarget }) => set({ ...to, resubscribe: currentTarget.checked })}
            />
            Also those who left or cannot be reached: they asked for mail again
          </label>
        </>
      ) : (
        <label>
          New value; empty removes the field
          <input value={to.value} onChange={({ currentTarget }) => set({ ...to, value: currentTarget.value })} />
        </label>
      )}
    </>
  )
}

/** The contacts that a plan shows, each with what changes. */
const Sample = ({ count, plan: { summary } }: Pick<ContactPlan.Planned, "count" | "plan">) => {
  const shown =
    summary.sample.length > 0
      ? summary.sample.slice(0, 5)
      : (summary.firstContacts ?? []).map(({ email }) => ({ email, changes: {} }))
  return (
    <ul>
      {shown.map(({ changes, email }) => (
        <li key={email}>
          <bdi>{email}</bdi>
          {Object.entries(changes).map(([field, [before, after]]) => (
            <span key={field}>
              {" "}
              <bdi className="old">{shortened(before ?? "nothing")}</bdi> →{" "}
              <bdi className="new">{shortened(after ?? "nothing")}</bdi>
            </span>
          ))}
        </li>
      ))}
      {count > shown.length ? <li>and {(count - shown.length).toLocaleString()} more</li> : null}
    </ul>
  )
}

const Preview = ({ planned, onApply }: { readonly planned: ContactPlan.Planned; readonly onApply: () => void }) => {
  const { count, isSevere, of, plan } = planned
  const { alreadySo, deleted = 0, statuses = {}, statusesKept: kept } = plan.summary
  const verb = `${of._tag} ${people(count)}`
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onApply()
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p role="status">
        {count === 0 ? "Nothing would change" : `This would ${verb.toLowerCase()}`}
        {deleted === 0 ? "" : ": "}
        {Object.entries(statuses)
          .map(([status, number]) => `${number.toLocaleString()} ${status || "without a status"}`)
          .join(", ")}
        .{alreadySo === kept ? "" : ` Already so: ${people(alreadySo - kept)}.`}
        {kept === 0 ? "" : ` ${people(kept)} left, complained, cannot be reached or confirmed: their status stays.`}
        {["", ...recipientWords(plan.summary)].join(" ")}
      </p>
      {count === 0 ? null : (
        <>
          {of._tag !== "Add" && of.meant._tag === "ByRule" ? <Unplaced /> : null}
          <Sample count={count} plan={plan} />
          <Confirmed count={isSevere ? count : undefined}>
            <button type="submit" className="danger">
              {verb}
            </button>
          </Confirmed>
        </>
      )}
    </form>
  )
}

/** What was done, and its undo. */
const Done = ({ report }: { readonly report: Ended }) => (
  <div className="stack">
    <div role="status">
      {reportWords(report).map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
    <Problem message={report.stoppedBy?.message} />
    {report.run === undefined ? null : <UndoButton run={report.run} title="Undo" total={report.done} />}
  </div>
)

export const PlanDialog = ({ begun, onClose }: { readonly begun: Wanted; readonly onClose: () => void }) => {
  const registry = useRegistry()
  const [wanted, setWanted] = useState(begun)
  const [planned, plan] = useAtom(ContactPlan.plan)
  const [applied, apply] = useAtom(ContactPlan.apply)
  const open = useAtomSet(ContactAtoms.opened)
  useEffect(() => {
    // What a dialog before this one did is none of it.
    registry.set(ContactPlan.apply, Atom.Reset)
    registry.set(ContactPlan.plan, Atom.Reset)
    if (begun._tag === "Delete") plan(begun)
  }, [begun, plan, registry])
  const report = AsyncResult.isSuccess(applied) ? applied.value : undefined
  const close = (): void => {
    if (wanted._tag === "Delete" && report !== undefined) registry.set(ContactAtoms.chosen, new Set<string>())
    onClose()
  }
  const isAdded = wanted._tag === "Add" && report?.new === 1
  const added = isAdded ? wanted.contact.email.trim() : undefined
  useEffect(() => {
    if (added === undefined) return
    open(added)
    onClose()
  }, [added, onClose, open])
  const change = (next: Wanted): void => {
    setWanted(next)
    registry.set(ContactPlan.plan, Atom.Reset)
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (wanted._tag === "Add") apply(wanted)
    else plan(wanted)
  }
  const isGiven =
    wanted._tag === "Add"
      ? wanted.contact.email.trim() !== ""
      : wanted._tag !== "Change" || wanted.to.field !== "custom" || wanted.to.name.trim() !== ""
  const isWaiting = planned.waiting || applied.waiting
  const isPlanned = AsyncResult.isSuccess(planned) && !planned.waiting
  const command = isGiven ? ContactPlan.commandOf(wanted) : undefined
  return (
    <Dialog
      title={wanted._tag === "Add" ? "Add a contact" : `${wanted._tag}: ${ContactPlan.titleOf(wanted)}`}
      onClose={close}
    >
      {report !== undefined || wanted._tag === "Delete" ? null : (
        <form className="stack" onSubmit={submit}>
          {wanted._tag === "Add" ? (
            <NewContactFields wanted={wanted} onChange={change} />
          ) : (
            <NewValueFields wanted={wanted} onChange={change} />
          )}
          {isPlanned ? null : (
            <button type="submit" className="primary" disabled={!isGiven || isWaiting}>
              {wanted._tag === "Add" ? "Add the contact" : "Show what changes"}
            </button>
          )}
        </form>
      )}
      <Problem message={problemOf(planned) ?? problemOf(applied)} />
      {isWaiting ? <p role="status">{applied.waiting ? "Writing…" : "Reading the contacts…"}</p> : null}
      {report !== undefined ? (
        <Done report={report} />
      ) : isPlanned && !isWaiting ? (
        <Preview planned={planned.value} onApply={() => apply(planned.value)} />
      ) : null}
      <div className="buttons">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {command === undefined ? null : <CommandLine command={command} />}
    </Dialog>
  )
}
