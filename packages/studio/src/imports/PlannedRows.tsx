/** What each row of a plan would do, counted and listed by what it does. */
import type { ImportWarning } from "@roster/domain"
import { recipientWords } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { download } from "../kit/Download.ts"
import { Pager } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Table } from "../kit/Table.tsx"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPlan from "./ImportPlan.ts"
import * as ImportApply from "./ImportApply.ts"
import { countsOf, kinds, meaningOf, warningAdvice, warningText } from "./ImportWords.ts"
import { Causes, CorrectRow, OpenCells, Proposals } from "./RejectedRows.tsx"
import type { Planned, RowsFileRequest, ShownRow } from "./thread/ImportCalls.ts"

const columns = ["Line", "Address", "What changes"]

const Row = ({ isApplied, row }: { readonly row: ShownRow; readonly isApplied: boolean }) => {
  const { email, fields, keptStatus, line, onlyForm = [], reason, suggestion } = row
  return (
    <>
      <tr>
        <td className="number">{line.toLocaleString()}</td>
        <td>
          <bdi>{email}</bdi>
        </td>
        <td>
          {reason === undefined ? null : <p>{reason}</p>}
          {keptStatus === undefined ? null : <p>Stays {keptStatus}.</p>}
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
                  {onlyForm.includes(name) ? <small> only its form</small> : null}
                </li>
              ))}
            </ul>
          )}
          {isApplied ? null : <CorrectRow row={row} />}
        </td>
      </tr>
      {isApplied ? null : <OpenCells line={line} columns={columns.length} />}
    </>
  )
}

const Rows = ({ isApplied, total }: { readonly total: number; readonly isApplied: boolean }) => {
  const rows = useAtomValue(ImportPlan.rows)
  const [first, setFirst] = useAtom(ImportPlan.shownFirst)
  if (!AsyncResult.isSuccess(rows)) return <Problem message={problemOf(rows)} />
  return (
    <>
      <Pager first={first} noun="row" total={total} onFirst={setFirst} />
      <Table label="Rows of the plan" columns={columns} className="rows" isWaiting={rows.waiting}>
        {rows.value.map((row) => (
          <Row key={row.line} row={row} isApplied={isApplied} />
        ))}
      </Table>
    </>
  )
}

/** Saves the rejected or repeated rows of a plan as a file. */
const SaveRows = ({
  children,
  of,
  planned
}: Pick<RowsFileRequest, "of"> & { readonly planned: Planned; readonly children: string }) => {
  const [file, make] = useAtom(ImportPlan.saveRows)
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

export const PlannedRows = ({ planned }: { readonly planned: Planned }) => {
  const registry = useRegistry()
  const kind = useAtomValue(ImportPlan.shownKind)
  const { onDuplicate } = useAtomValue(ImportFile.rowChoices)
  const chosen = useAtomValue(ImportFile.file)
  const isApplied = !AsyncResult.isInitial(useAtomValue(ImportApply.apply))
  const of = countsOf(planned)
  const total = useAtomValue(ImportPlan.shownTotal)
  return (
    <>
      <p role="status">
        {counted(planned.summary.read, "row")}: {of.new.toLocaleString()} new, {of.changed.toLocaleString()} changed,{" "}
        {of.alreadySo.toLocaleString()} already so, {of.rejected.toLocaleString()} rejected,{" "}
        {of.duplicates.toLocaleString()} duplicates{of.leftOut === 0 ? "" : `, ${of.leftOut.toLocaleString()} left out`}
        .{isApplied ? "" : [" Nothing is stored yet.", ...recipientWords(planned.summary)].join(" ")}
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
                onChange={() => ImportPlan.showRows(registry, id)}
              />
              {title} <strong>{of[id].toLocaleString()}</strong>
            </label>
          )
        )}
      </fieldset>
      <p>{meaningOf(kind, { onDuplicate })}</p>
      {kind === "rejected" && of.rejected > 0 ? (
        <div className="stack">
          <Causes planned={planned} />
          {isApplied ? null : <Proposals />}
          <SaveRows planned={planned} of="rejected">
            Download the rejected rows, to correct and import them
          </SaveRows>
        </div>
      ) : null}
      {kind === "duplicates" && of.duplicates > 0 ? (
        <SaveRows planned={planned} of="duplicates">
          Download the repeated rows, with the lines of both
        </SaveRows>
      ) : null}
      {of[kind] === 0 ? <p>There are none.</p> : <Rows total={total} isApplied={isApplied} />}
      <p>
        <button
          type="button"
          onClick={() => download(ImportFile.beside(chosen?.name ?? "contacts", ".plan.json"), planned.content)}
        >
          Download the plan
        </button>
      </p>
    </>
  )
}
