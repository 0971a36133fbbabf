/** Rejected rows: by cause, with what is proposed for slips, and each cell to correct. What is corrected is planned with the rest. */
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { Table } from "../kit/Table.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import { number } from "../texts/Language.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import * as Corrections from "./Corrections.ts"
import * as ImportPlan from "./ImportPlan.ts"
import type { Planned, ShownRow } from "./thread/ImportCalls.ts"

/** Maximum number of proposals, and of corrected rows, that are shown. */
const shownRows = 50

/** Why rows are rejected, those of most rows first. */
export const Causes = ({ planned }: { readonly planned: Planned }) => {
  const registry = useRegistry()
  const shown = useAtomValue(ImportPlan.shownCause)
  const { causes = [] } = planned.summary
  return (
    <>
      <ul>
        {causes.map(({ allowed, cause, code, column, count, first, otherValues, values }) => (
          <li key={`${column} ${cause}`}>
            {importTexts.cause(count, column === undefined ? undefined : <bdi>{column}</bdi>, <bdi>{cause}</bdi>)}
            {allowed === undefined ? null : <small> {importTexts.chooseWords}</small>}
            {values.length === 0 ? null : (
              <ul className="values">
                {values.slice(0, 5).map(({ count: of, value }) => (
                  <li key={value}>
                    <bdi>{value}</bdi> <small>{number(of)}</small>
                  </li>
                ))}
                {otherValues > 0 || values.length > 5 ? <li>{importTexts.andOthers}</li> : null}
              </ul>
            )}{" "}
            <small>{importTexts.firstIn(first.line)}</small>{" "}
            {code === undefined ? null : (
              <button
                type="button"
                className="link"
                aria-pressed={shown?.cause === cause && shown.column === column}
                onClick={() => ImportPlan.showRows(registry, "rejected", { cause, column })}
              >
                {importTexts.showThese}
              </button>
            )}
          </li>
        ))}
      </ul>
      {shown === undefined ? null : (
        <p>
          {importTexts.oneCause(<bdi>{shown.cause}</bdi>)}{" "}
          <button type="button" className="link" onClick={() => ImportPlan.showRows(registry, "rejected")}>
            {sharedTexts.showAll}
          </button>
        </p>
      )}
    </>
  )
}

const Before = ({ after, before }: { readonly before: string; readonly after: string }) => (
  <>
    <bdi className="old">{before}</bdi> <bdi className="new">{after}</bdi>
  </>
)

/** Rows whose slip can be put right without asking anybody, before beside after. */
export const Proposals = () => {
  const registry = useRegistry()
  const proposed = useAtomValue(Corrections.proposed)
  const names = useAtomValue(Corrections.headings)
  if (proposed.length === 0) return null
  return (
    <>
      <div className="bar">
        <span>{importTexts.slips(proposed.length)}</span>
        <button type="button" onClick={() => Corrections.accept(registry, proposed)}>
          {importTexts.correctAll(proposed.length)}
        </button>
      </div>
      <details>
        <summary>{importTexts.beforeAndAfter}</summary>
        <Table
          label={importTexts.proposed}
          columns={[importTexts.planHeadings.line, importTexts.beforeAndAfter]}
          className="rows"
        >
          {proposed.slice(0, shownRows).map((row) => (
            <tr key={row.line}>
              <td className="number">{number(row.line)}</td>
              <td>
                {Corrections.differences(row, names).map(([name, before, after]) => (
                  <p key={name}>
                    <bdi>{name}</bdi> <Before before={before} after={after} />
                  </p>
                ))}
              </td>
            </tr>
          ))}
        </Table>
        {proposed.length > shownRows ? <p>{sharedTexts.andMore(proposed.length - shownRows)}</p> : null}
      </details>
    </>
  )
}

/** The cells of a row, each in a field, and what an import would make of them. */
const Cells = ({ row: { before, cells, line } }: { readonly row: Corrections.OpenRow }) => {
  const registry = useRegistry()
  const names = useAtomValue(Corrections.headings)
  const { email, problem } = useAtomValue(Corrections.found)
  return (
    <form
      className="stack"
      aria-label={importTexts.lineOf(line)}
      onSubmit={(event) => {
        event.preventDefault()
        Corrections.keep(registry)
      }}
    >
      <div className="fields">
        {cells.map((cell, at) => (
          <label key={at}>
            {names[at] ?? importTexts.behindLast}
            <input
              value={cell}
              autoComplete="off"
              spellcheck={false}
              onChange={({ currentTarget }) => Corrections.write(registry, at, currentTarget.value)}
            />
            {before[at] === cell ? null : <small>{importTexts.before(<bdi>{before[at]}</bdi>)}</small>}
            {at < names.length ? null : (
              <button type="button" onClick={() => Corrections.removeCell(registry, at)}>
                {importTexts.takeOut}
              </button>
            )}
          </label>
        ))}
      </div>
      <p role="status">{email === undefined ? problem : importTexts.canBeImported(<bdi>{email}</bdi>)}</p>
      <div className="buttons">
        <button type="submit" className="primary" disabled={email === undefined}>
          {importTexts.keepCorrection}
        </button>
        <button type="button" onClick={() => registry.set(Corrections.openRow, undefined)}>
          {importTexts.leaveAsItWas}
        </button>
      </div>
    </form>
  )
}

/** What can be done with a rejected row. */
export const CorrectRow = ({ row }: { readonly row: ShownRow }) => {
  const registry = useRegistry()
  const opened = useAtomValue(Corrections.openRow)
  const kept = useAtomValue(ImportPlan.corrections).get(row.line)
  if (row.cells === undefined || opened?.line === row.line) return null
  return (
    <div className="buttons">
      <button type="button" onClick={() => Corrections.open(registry, row)}>
        {kept === undefined ? importTexts.correct : importTexts.correctAgain}
      </button>
      {kept === undefined ? null : (
        <>
          <span>{importTexts.corrected}</span>
          <button type="button" onClick={() => Corrections.takeBack(registry, row.line)}>
            {importTexts.takeBack}
          </button>
        </>
      )}
    </div>
  )
}

/** The cells of a row below it, while it is being corrected. */
export const OpenCells = ({ columns, line }: { readonly line: number; readonly columns: number }) => {
  const opened = useAtomValue(Corrections.openRow)
  return opened?.line === line ? (
    <tr>
      <td colSpan={columns}>
        <Cells row={opened} />
      </td>
    </tr>
  ) : null
}

/** The rows that are corrected, whether the plan has them or not. */
export const CorrectedRows = () => {
  const registry = useRegistry()
  const corrections = useAtomValue(ImportPlan.corrections)
  const unplanned = useAtomValue(ImportPlan.unplanned)
  if (corrections.size + unplanned === 0) return null
  return (
    <div className="note">
      <p role="status">
        {unplanned === 0 ? importTexts.areCorrected(corrections.size) : importTexts.areNotPlanned(corrections.size)}
      </p>
      <details>
        <summary>{importTexts.correctedRows}</summary>
        <ul>
          {[...corrections].slice(0, shownRows).map(([line, cells]) => (
            <li key={line}>
              {importTexts.cellInLine(line, <bdi className="cell">{cells.join(", ")}</bdi>)}{" "}
              <button
                type="button"
                className="link"
                aria-label={importTexts.takeBackLine(line)}
                onClick={() => Corrections.takeBack(registry, line)}
              >
                {importTexts.takeItBack}
              </button>
            </li>
          ))}
        </ul>
        {corrections.size > shownRows ? <p>{sharedTexts.andMore(corrections.size - shownRows)}</p> : null}
      </details>
    </div>
  )
}
