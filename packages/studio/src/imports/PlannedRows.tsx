/** What each row of a plan would do, counted and listed by what it does. */
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { download } from "../kit/Download.ts"
import { Pager } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import * as Import from "./ImportAtoms.ts"
import type { Planned, RowKind, ShownRow } from "./thread/ImportCalls.ts"

const kinds = [
  ["new", "New"],
  ["changed", "Changed"],
  ["unchanged", "Unchanged"],
  ["rejected", "Rejected"],
  ["repeated", "Repeated"],
  ["kept", "Kept because of consent"],
  ["leftOut", "Left out"]
] as const

const counts = ({ kept, summary }: Planned): Readonly<Record<RowKind, number>> => ({
  new: summary.new,
  changed: summary.changed,
  unchanged: summary.unchanged,
  rejected: summary.rejected,
  repeated: summary.duplicates,
  kept,
  leftOut: summary.leftOut ?? 0
})

/** What a kind of rows means, for whoever has not made the program. */
const meanings = (resubscribe: boolean): Readonly<Record<RowKind, string>> => ({
  new: "Contacts that are not stored yet.",
  changed: "Contacts that are stored with other values: old beside new.",
  unchanged: "Contacts that are stored just so.",
  rejected: "Rows that cannot be imported, and why. The others are imported without them.",
  repeated: "Rows whose address a later row has too, which is the one that counts.",
  kept: resubscribe
    ? "People who get no mail, and whom these rows subscribe again."
    : "People who left, complained or cannot be reached, and whom these rows would subscribe again. They keep their status.",
  leftOut: "Rows for contacts that this import does not write to, as it was said above."
})

const Row = ({ row: { email, fields, line, reason, suggestion } }: { readonly row: ShownRow }) => (
  <tr>
    <td className="number">{line.toLocaleString()}</td>
    <td>
      <bdi>{email}</bdi>
    </td>
    <td>
      {reason === undefined ? null : <p>{reason}</p>}
      {suggestion === undefined ? null : (
        <p>
          Probably meant: <bdi>{suggestion}</bdi>
        </p>
      )}
      {fields.length === 0 ? null : (
        <ul className="values">
          {fields.map(([name, old, now]) => (
            <li key={name}>
              <bdi>{name}</bdi> {old === null ? null : <bdi className="old">{old}</bdi>}{" "}
              {now === null ? <em>none</em> : <bdi className={reason === undefined ? "new" : "old"}>{now}</bdi>}
            </li>
          ))}
        </ul>
      )}
    </td>
  </tr>
)

const Rows = ({ total }: { readonly total: number }) => {
  const rows = useAtomValue(Import.rows)
  const [page, setPage] = useAtom(Import.shownPage)
  if (!AsyncResult.isSuccess(rows)) return <Problem message={problemOf(rows)} />
  return (
    <>
      <Table label="Rows of the plan" columns={["Line", "Address", "What changes"]} className="rows">
        {rows.value.map((row) => (
          <Row key={row.line} row={row} />
        ))}
      </Table>
      <Pager page={page} total={total} onPage={setPage} />
    </>
  )
}

const Causes = ({ planned }: { readonly planned: Planned }) => {
  const [file, make] = useAtom(Import.rejected)
  const chosen = useAtomValue(Import.file)
  const { causes = [] } = planned.summary
  const isJson = planned.header?.format !== undefined
  const save = (): void =>
    make({ plan: planned.id, name: `${chosen?.name ?? "contacts"}.rejected.${isJson ? "ndjson" : "csv"}` })
  return (
    <div className="stack">
      <ul>
        {causes.map(({ allowed, cause, column, count, first, otherValues, values }) => (
          <li key={`${column} ${cause}`}>
            {counted(count, "row")}
            {column === undefined ? "" : " in "}
            <bdi>{column}</bdi>: <bdi>{cause}</bdi>
            {allowed === undefined ? null : <small> (choose above what the words stand for)</small>}
            {values.length === 0 ? null : (
              <ul className="values">
                {values.slice(0, 5).map(({ count: of, value }) => (
                  <li key={value}>
                    <bdi>{value}</bdi> <small>{of.toLocaleString()}</small>
                  </li>
                ))}
                {otherValues > 0 || values.length > 5 ? <li>and others</li> : null}
              </ul>
            )}{" "}
            <small>first in line {first.line.toLocaleString()}</small>
          </li>
        ))}
      </ul>
      <button type="button" disabled={file.waiting} onClick={save}>
        Download the rejected rows, to correct and import them
      </button>
      <Problem message={problemOf(file)} />
    </div>
  )
}

export const PlannedRows = ({ planned }: { readonly planned: Planned }) => {
  const registry = useRegistry()
  const [kind, setKind] = useAtom(Import.shownKind)
  const resubscribe = useAtomValue(Import.resubscribe)
  const chosen = useAtomValue(Import.file)
  const isApplied = !AsyncResult.isInitial(useAtomValue(Import.apply))
  const of = counts(planned)
  return (
    <>
      <p role="status">
        {counted(planned.summary.read, "row")}: {of.new.toLocaleString()} new, {of.changed.toLocaleString()} changed,{" "}
        {of.unchanged.toLocaleString()} unchanged, {of.rejected.toLocaleString()} rejected,{" "}
        {of.repeated.toLocaleString()} repeated{of.leftOut === 0 ? "" : `, ${of.leftOut.toLocaleString()} left out`}.
        {isApplied ? "" : " Nothing is stored yet."}
      </p>
      <fieldset className="kinds">
        <legend className="unseen">Rows to show</legend>
        {kinds.map(([id, title]) =>
          id === "leftOut" && of.leftOut === 0 ? null : (
            <label key={id} className="choice">
              <input
                type="radio"
                name="kind"
                checked={kind === id}
                onChange={() => {
                  registry.set(Import.shownPage, 0)
                  setKind(id)
                }}
              />
              {title} <strong>{of[id].toLocaleString()}</strong>
            </label>
          )
        )}
      </fieldset>
      <p>{meanings(resubscribe)[kind]}</p>
      {kind === "rejected" && of.rejected > 0 ? <Causes planned={planned} /> : null}
      {of[kind] === 0 ? <p>There are none.</p> : <Rows total={of[kind]} />}
      <p>
        <button
          type="button"
          onClick={() => download(Import.beside(chosen?.name ?? "contacts", ".plan.json"), planned.content)}
        >
          Download the plan
        </button>
      </p>
    </>
  )
}
