/** The contacts that the rule selects, a page of them at a time. */
import type { ContactOrder } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import { type KeyboardEvent, type ReactNode, useRef } from "preact/compat"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Icon } from "../kit/Icon.tsx"
import { StatusMark } from "../kit/Mark.tsx"
import { problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import { Shown } from "../kit/Times.tsx"
import { contactTexts } from "../texts/ContactTexts.ts"
import { fieldTitle, sharedTexts, valueWords } from "../texts/SharedTexts.ts"
import * as ContactAtoms from "./ContactAtoms.ts"
import { addedColumn, type ContactColumn, columnsOf } from "./ContactColumn.ts"
import { ReadProblem } from "../session/ReadProblem.tsx"

const Cell = ({ name, value }: Pick<ContactColumn, "name"> & { readonly value: ReturnType<ContactColumn["read"]> }) =>
  typeof value !== "string" ? (
    <Shown value={value} />
  ) : name === "Status" ? (
    <StatusMark status={value} />
  ) : (
    <Shown value={valueWords(name, value)} />
  )

/** A column whose index contacts can be read by. */
type SortedBy = "email" | "added"

/** The orders through which the clicks on a heading go: of dates the newest come first, and then it is as before. */
const turns: Readonly<Record<SortedBy, Partial<Record<ContactOrder, ContactOrder>>>> = {
  email: { email: "-email", "-email": "added" },
  added: { "-added": "added", added: "-added" }
}

const firstTurn = { email: "email", added: "-added" } as const

/** How the rows are sorted by a column, in the words of ARIA. */
const directionOf = (by: SortedBy, order: ContactOrder) =>
  order === by ? "ascending" : order === `-${by}` ? "descending" : "none"

/** Sorts by its column, or says why that cannot be done here. */
const SortHeading = ({ by, children }: { readonly by: SortedBy; readonly children: ReactNode }) => {
  const [sort, setSort] = useAtom(ContactAtoms.sort)
  const reason = useAtomValue(ContactAtoms.whyUnsorted)
  const isFixed = reason !== undefined
  const direction = directionOf(by, sort)
  return (
    <button
      type="button"
      className="sort"
      aria-disabled={isFixed}
      title={isFixed ? contactTexts.notSorted(reason) : undefined}
      onClick={() => {
        if (!isFixed) setSort(turns[by][sort] ?? firstTurn[by])
      }}
    >
      {children}
      {direction === "none" ? null : <Icon name={direction === "ascending" ? "up" : "down"} />}
    </button>
  )
}

export const ContactTable = () => {
  const page = useAtomValue(ContactAtoms.page)
  const total = useAtomValue(ContactAtoms.total)
  const names = useAtomValue(ContactAtoms.columns)
  const sort = useAtomValue(ContactAtoms.sort)
  const [choice, setChoice] = useAtom(ContactAtoms.choice)
  const open = useAtomSet(ContactAtoms.opened)
  const last = useRef("")
  if (!AsyncResult.isSuccess(page)) {
    return problemOf(page) === undefined ? (
      <p className="waiting">{sharedTexts.readingContacts}</p>
    ) : (
      <ReadProblem of={page} />
    )
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
      label={contactTexts.table}
      className="rows preview contacts"
      total={total}
      isWaiting={page.waiting}
      columns={[
        <input
          key="all"
          type="checkbox"
          aria-label={contactTexts.choosePage}
          checked={isPageChosen}
          indeterminate={!isPageChosen && emails.some(isChosen)}
          onChange={({ currentTarget }) => choose(0, emails.length, currentTarget.checked)}
        />,
        <SortHeading key="email" by="email">
          {fieldTitle("Email")}
        </SortHeading>,
        ...columns.map(({ name, title }) => {
          const heading = <bdi key={name}>{title}</bdi>
          return name === addedColumn ? (
            <SortHeading key={name} by="added">
              {heading}
            </SortHeading>
          ) : (
            heading
          )
        })
      ]}
      sorted={[
        undefined,
        directionOf("email", sort),
        ...names.map((name) => (name === addedColumn ? directionOf("added", sort) : undefined))
      ]}
    >
      {contacts.map((contact, at) => (
        <tr key={at} aria-rowindex={first + at + 2} className={isChosen(contact.email) ? "chosen" : ""}>
          <td>
            <input
              type="checkbox"
              aria-label={contactTexts.choose(contact.email)}
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
