/** Gives a contact another status; one that would send mail again to somebody who left needs a word of its own. */
import { type Contact, ContactStatus, statusKept } from "@roster/domain"
import { Schema } from "effect"
import { AsyncResult } from "effect/reactivity"
import { type FormEvent, useState } from "react"
import { useAtom } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { setStatus } from "./ContactEdit.ts"

const isStatus = Schema.is(ContactStatus)

export const StatusForm = ({ contact }: { readonly contact: Contact }) => {
  const [status, setChosen] = useState<string>(contact.status ?? "")
  const [asked, setAsked] = useState(false)
  const [result, change] = useAtom(setStatus)
  const kept = statusKept(contact.status, status)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (isStatus(status)) change({ email: contact.email, status, resubscribe: asked })
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label>
        Status
        <select value={status} onChange={(event) => setChosen(event.target.value)}>
          {isStatus(contact.status) ? null : <option value={contact.status ?? ""}>{contact.status ?? "none"}</option>}
          {ContactStatus.literals.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {kept === undefined ? null : (
        <label className="choice">
          <input type="checkbox" checked={asked} onChange={(event) => setAsked(event.target.checked)} />
          This contact is {kept} and gets no mail. They asked for mail again.
        </label>
      )}
      <Problem message={problemOf(result)} />
      <div className="bar">
        <button type="submit" disabled={status === contact.status || result.waiting || (kept !== undefined && !asked)}>
          {result.waiting ? "Changing…" : "Change the status"}
        </button>
        <span role="status">{AsyncResult.isSuccess(result) && status === contact.status ? "Changed." : ""}</span>
      </div>
    </form>
  )
}
