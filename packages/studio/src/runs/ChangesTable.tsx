/** What a run did to contacts, as a table: the values before, by the run, and, in a preview of an undo, now. */
import type { ReactNode } from "preact/compat"
import { Table } from "../kit/Table.tsx"
import { runTexts } from "../texts/RunTexts.ts"
import { fieldText } from "./RunWords.ts"
import { sharedTexts, shortened, valueWords } from "../texts/SharedTexts.ts"

/** A contact of the table. */
export interface ShownChange {
  readonly email: string
  /** What was done to the contact, or would be. */
  readonly words: string
  readonly fields: ReadonlyArray<{
    readonly field: string
    readonly before: string | number | null
    readonly byRun: string | number | null
    readonly now?: string | number | null
    readonly isKept?: boolean
  }>
}

const Value = ({
  className,
  field,
  value
}: {
  readonly field: string
  readonly value: string | number | null
  readonly className?: string
}) =>
  value === null ? (
    <small>{sharedTexts.none}</small>
  ) : (
    <bdi className={className}>{shortened(valueWords(field, String(value)))}</bdi>
  )

/** Maximum number of fields of a contact that are shown. */
const mostFields = 30

export const ChangesTable = ({
  changes,
  hasNow,
  label
}: {
  readonly label: string
  readonly changes: ReadonlyArray<ShownChange>
  /** Whether there is a column of the values now. */
  readonly hasNow: boolean
}) => {
  const { before, byRun, contact, now, theRun, theUndo } = runTexts.columns
  const first = (change: ShownChange, rows: number): ReactNode => (
    <>
      <th scope="row" rowSpan={rows} className="address">
        <bdi>{change.email}</bdi>
      </th>
      <td rowSpan={rows}>{change.words}</td>
    </>
  )
  return (
    <Table
      label={label}
      columns={[contact, hasNow ? theUndo : theRun, sharedTexts.field, before, byRun, ...(hasNow ? [now] : [])]}
      className="broad"
    >
      {changes.flatMap((change, index) => {
        const fields = change.fields.slice(0, mostFields)
        const rest = change.fields.length - fields.length
        if (fields.length === 0) {
          return [
            <tr key={index}>
              {first(change, 1)}
              <td colSpan={hasNow ? 4 : 3}>
                <small>{runTexts.noFields}</small>
              </td>
            </tr>
          ]
        }
        return fields.map(({ before, byRun, field, isKept, now = null }, at) => (
          <tr key={`${index} ${field}`}>
            {at === 0 ? first(change, fields.length) : null}
            <td>
              <bdi>{fieldText(field)}</bdi>
              {at === fields.length - 1 && rest > 0 ? <small>{runTexts.moreFields(rest)}</small> : null}
            </td>
            <td>
              <Value field={field} value={before} className={hasNow ? "" : "old"} />
            </td>
            <td>
              <Value field={field} value={byRun} className={hasNow ? "" : "new"} />
            </td>
            {hasNow ? (
              <td>
                <Value field={field} value={now} /> {isKept ? <small>{runTexts.stays}</small> : null}
              </td>
            ) : null}
          </tr>
        ))
      })}
    </Table>
  )
}
