/** The contacts that the rule selects, a page of them at a time. */
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import { Shown } from "../kit/Times.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import { columnsOf } from "./ContactColumn.ts"

export const ContactTable = () => {
  const page = useAtomValue(ContactAtoms.page)
  const total = useAtomValue(ContactAtoms.total)
  const names = useAtomValue(ContactAtoms.columns)
  const [chosen, setChosen] = useAtom(ContactAtoms.chosen)
  const open = useAtomSet(ContactAtoms.opened)
  if (!AsyncResult.isSuccess(page)) {
    return problemOf(page) === undefined ? <p>Reading the contacts…</p> : <Problem message={problemOf(page)} />
  }
  const { contacts, first } = page.value
  if (contacts.length === 0) return null
  const columns = columnsOf(names)
  const choose = (emails: ReadonlyArray<string>, isChosen: boolean): void =>
    setChosen(new Set(isChosen ? [...chosen, ...emails] : [...chosen].filter((email) => !emails.includes(email))))
  const emails = contacts.map(({ email }) => email)
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
          checked={emails.every((email) => chosen.has(email))}
          onChange={({ currentTarget }) => choose(emails, currentTarget.checked)}
        />,
        "Email",
        ...names.map((name) => <bdi key={name}>{name}</bdi>)
      ]}
    >
      {contacts.map((contact, at) => (
        <tr key={at} aria-rowindex={first + at + 2} className={chosen.has(contact.email) ? "chosen" : ""}>
          <td>
            <input
              type="checkbox"
              aria-label={`Choose ${contact.email}`}
              checked={chosen.has(contact.email)}
              onChange={({ currentTarget }) => choose([contact.email], currentTarget.checked)}
            />
          </td>
          <th scope="row">
            <button type="button" className="link" onClick={() => open(contact.email)}>
              {contact.email}
            </button>
          </th>
          {columns.map(({ name, read }) => (
            <td key={name}>
              <Shown value={read(contact)} />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}
