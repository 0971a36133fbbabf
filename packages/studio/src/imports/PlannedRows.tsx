/** What each row of a plan would do, counted and listed by what it does. */
import type { ImportWarning } from "@roster/domain"
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { download } from "../kit/Download.ts"
import { Pager } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import * as Import from "./ImportAtoms.ts"
import { countsOf, kinds, meaningOf, warningAdvice, warningText } from "./PlanWords.ts"
import type { Planned, RowsFileRequest, ShownRow } from "./thread/ImportCalls.ts"

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

/** Saves the rejected or repeated rows of a plan as a file. */
const SaveRows = ({
  children,
  of,
  planned
}: Pick<RowsFileRequest, "of"> & { readonly planned: Planned; readonly children: string }) => {
  const [file, make] = useAtom(Import.saveRows)
  return (
    <div>
      <button type="button" disabled={file.waiting} onClick={() => make({ plan: planned.id, of })}>
        {children}
      </button>
      <Problem message={problemOf(file)} />
    </div>
  )
}

const Warnings = ({ warnings }: { readonly warnings: ReadonlyArray<ImportWarning> }) => (
  <details>
    <summary>
      {counted(warnings.length, "thing looks", "things look")} odd in the rows, and will be imported as they are
    </summary>
    <ul>
      {warnings.map((warning) => (
        <li key={warningText(warning)}>
          <bdi>{warningText(warning)}</bdi>. {warningAdvice(warning)}
          <ul className="values">
            {warning.examples.map(({ line, value }) => (
              <li key={line}>
                line {line.toLocaleString()}: <bdi className="cell">{value}</bdi>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  </details>
)

const Causes = ({ planned }: { readonly planned: Planned }) => {
  const { causes = [] } = planned.summary
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
      <SaveRows planned={planned} of="rejected">
        Download the rejected rows, to correct and import them
      </SaveRows>
    </div>
  )
}

export const PlannedRows = ({ planned }: { readonly planned: Planned }) => {
  const registry = useRegistry()
  const [kind, setKind] = useAtom(Import.shownKind)
  const resubscribe = useAtomValue(Import.resubscribe)
  const { onDuplicate } = useAtomValue(Import.rowChoices)
  const chosen = useAtomValue(Import.file)
  const isApplied = !AsyncResult.isInitial(useAtomValue(Import.apply))
  const of = countsOf(planned)
  return (
    <>
      <p role="status">
        {counted(planned.summary.read, "row")}: {of.new.toLocaleString()} new, {of.changed.toLocaleString()} changed,{" "}
        {of.unchanged.toLocaleString()} unchanged, {of.rejected.toLocaleString()} rejected,{" "}
        {of.repeated.toLocaleString()} repeated{of.leftOut === 0 ? "" : `, ${of.leftOut.toLocaleString()} left out`}.
        {isApplied ? "" : " Nothing is stored yet."}
      </p>
      {planned.summary.warnings === undefined ? null : <Warnings warnings={planned.summary.warnings} />}
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
      <p>{meaningOf(kind, { onDuplicate, resubscribe })}</p>
      {kind === "rejected" && of.rejected > 0 ? <Causes planned={planned} /> : null}
      {kind === "repeated" && of.repeated > 0 ? (
        <SaveRows planned={planned} of="repeated">
          Download the repeated rows, with the lines of both
        </SaveRows>
      ) : null}
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
