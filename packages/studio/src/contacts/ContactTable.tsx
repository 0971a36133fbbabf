/** The contacts that the rule selects, a page of them at a time. */
import { AsyncResult } from "effect/reactivity"
import { type KeyboardEvent, useRef } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { fieldTitle } from "../kit/FieldTitles.ts"
import { StatusMark } from "../kit/Mark.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import { Shown } from "../kit/Times.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import { type ContactColumn, columnsOf } from "./ContactColumn.ts"

const Cell = ({ name, value }: Pick<ContactColumn, "name"> & { readonly value: ReturnType<ContactColumn["read"]> }) =>
  name === "Status" && typeof value === "string" ? <StatusMark status={value} /> : <Shown value={value} />

export const ContactTable = () => {
  const page = useAtomValue(ContactAtoms.page)
  const total = useAtomValue(ContactAtoms.total)
  const names = useAtomValue(ContactAtoms.columns)
  const [choice, setChoice] = useAtom(ContactAtoms.choice)
  const open = useAtomSet(ContactAtoms.opened)
  const last = useRef("")
  if (!AsyncResult.isSuccess(page)) {
    return problemOf(page) === undefined ? <p>Reading the contacts…</p> : <Problem message={problemOf(page)} />
  }
  const { contacts, first } = page.value
  if (contacts.length === 0) return null
  const columns = columnsOf(names)
  const emails = contacts.map(({ email }) => email)
  const isChosen = (email: string): boolean => ContactAtoms.isChosen(choice, email)
  const isPageChosen = emails.every(isChosen)
  const choose = (from: number, to: number, isIn: boolean): void =>
    setChoice(ContactAtoms.chosenToo(choice, emails.slice(Math.min(from, to), Math.max(from, to) + 1), isIn))
  /** Chooses a contact, and with Shift all from the last one on. */
  const onChoose = (at: number, isIn: boolean, isRange: boolean): void => {
    const from = isRange ? emails.indexOf(last.current) : -1
    choose(from < 0 ? at : from, at, isIn)
    last.current = emails[at] ?? ""
  }
  /** With Shift the arrow keys, by which the table goes to the next row, take the choice along. */
  const onKeyDown = (at: number, { key, shiftKey }: KeyboardEvent<HTMLInputElement>): void => {
    const next = key === "ArrowDown" ? at + 1 : key === "ArrowUp" ? at - 1 : -1
    const to = emails[next]
    if (!shiftKey || to === undefined) return
    choose(at, next, true)
    last.current = to
  }
  return (
    <Table
      label="Contacts, page by page"
      className="rows preview contacts"
      total={total}
      isWaiting={page.waiting}
      columns={[
        <input
          key="all"
          type="checkbox"
          aria-label="Choose all of this page"
          checked={isPageChosen}
          indeterminate={!isPageChosen && emails.some(isChosen)}
          onChange={({ currentTarget }) => choose(0, emails.length, currentTarget.checked)}
        />,
        fieldTitle("Email"),
        ...columns.map(({ name, title }) => <bdi key={name}>{title}</bdi>)
      ]}
    >
      {contacts.map((contact, at) => (
        <tr key={at} aria-rowindex={first + at + 2} className={isChosen(contact.email) ? "chosen" : ""}>
          <td>
            <input
              type="checkbox"
              aria-label={`Choose ${contact.email}`}
              checked={isChosen(contact.email)}
              // With Shift the browser would select the text between two clicks, too.
              onMouseDown={(event) => {
                if (event.shiftKey) event.preventDefault()
              }}
              onClick={({ currentTarget, shiftKey }) => onChoose(at, currentTarget.checked, shiftKey)}
              onKeyDown={(event) => onKeyDown(at, event)}
            />
          </td>
          <th scope="row">
            <button type="button" className="link" onClick={() => open(contact.email)}>
              {contact.email}
            </button>
          </th>
          {columns.map(({ name, read }) => (
            <td key={name}>
              <Cell name={name} value={read(contact)} />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}
