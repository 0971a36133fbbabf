/** The grid of the contacts that the rule selects. */
import { AsyncResult } from "effect/reactivity"
import { type ReactNode, useEffect, useState } from "react"
import { Grid, type GridRow } from "../grid/Grid.tsx"
import { useAtom, useAtomSet, useAtomValue } from "../kit/Atoms.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import * as ContactAtoms from "./ContactAtoms.ts"
import * as AppliedRule from "../rules/AppliedRule.ts"
import { columnsOf, type ContactColumn } from "./ContactColumn.ts"

type Draw = (index: number, row: GridRow | undefined) => ReactNode

/** The rows of one window that are seen. */
const WindowRows = ({
  columns,
  draw,
  first,
  index,
  last,
  onLoaded
}: {
  readonly index: number
  readonly first: number
  readonly last: number
  readonly draw: Draw
  readonly columns: ReadonlyArray<ContactColumn>
  readonly onLoaded: (index: number) => void
}) => {
  const result = useAtomValue(ContactAtoms.contactWindow(index))
  const isLoaded = AsyncResult.isSuccess(result)
  useEffect(() => {
    if (isLoaded) onLoaded(index)
  }, [isLoaded, index, onLoaded])
  const contacts = AsyncResult.isSuccess(result) ? result.value : []
  const begin = index * ContactAtoms.windowSize
  const indexes = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return (
    <>
      <Problem message={problemOf(result)} />
      {indexes.map((row) => {
        const contact = contacts[row - begin]
        return draw(row, contact && { id: contact.email, cells: columns.map(({ read }) => read(contact)) })
      })}
    </>
  )
}

export const ContactGrid = ({ total }: { readonly total: number }) => {
  const rule = useAtomValue(AppliedRule.rule)
  const names = useAtomValue(ContactAtoms.columns)
  const [chosen, setChosen] = useAtom(ContactAtoms.chosen)
  const setOpened = useAtomSet(ContactAtoms.opened)
  const [loaded, setLoaded] = useState({ rule, windows: 0 })
  const windows = loaded.rule === rule ? loaded.windows : 0
  const columns = columnsOf(names)

  const noteLoaded = (index: number): void =>
    setLoaded((before) => {
      const seen = before.rule === rule ? before.windows : 0
      return index + 1 > seen ? { rule, windows: index + 1 } : before
    })

  const choose = (email: string): void => {
    const next = new Set(chosen)
    if (!next.delete(email)) next.add(email)
    setChosen(next)
  }

  const rows = (first: number, last: number, draw: Draw): ReactNode => {
    const { windowSize } = ContactAtoms
    const from = Math.floor(first / windowSize)
    const to = Math.floor(last / windowSize)
    return Array.from({ length: to - from + 1 }, (_, at) => {
      const index = from + at
      return (
        <WindowRows
          key={index}
          index={index}
          first={Math.max(first, index * windowSize)}
          last={Math.min(last, (index + 1) * windowSize - 1)}
          draw={draw}
          columns={columns}
          onLoaded={noteLoaded}
        />
      )
    })
  }

  return (
    <Grid
      label="Contacts"
      columns={columns.map(({ name }) => name)}
      total={ContactAtoms.rowsToShow(rule, total, windows)}
      rows={rows}
      chosen={chosen}
      onChoose={choose}
      onOpen={setOpened}
    />
  )
}
