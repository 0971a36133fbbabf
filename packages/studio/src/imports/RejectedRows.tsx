/** Rejected rows: by cause, with what is proposed for slips, and each cell to correct. What is corrected is planned with the rest. */
import { useAtomValue, useRegistry } from "../kit/Atoms.tsx"
import { counted } from "../kit/Counts.ts"
import { Table } from "../kit/Table.tsx"
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
            {counted(count, "row")}
            {column === undefined ? "" : " in "}
            <bdi>{column}</bdi>: <bdi>{cause}</bdi>
            {allowed === undefined ? null : <small> (choose under 3 what the words stand for)</small>}
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
            <small>first in line {first.line.toLocaleString()}</small>{" "}
            {code === undefined ? null : (
              <button
                type="button"
                className="link"
                aria-pressed={shown?.cause === cause && shown.column === column}
                onClick={() => ImportPlan.showRows(registry, "rejected", { cause, column })}
              >
                show these alone
              </button>
            )}
          </li>
        ))}
      </ul>
      {shown === undefined ? null : (
        <p>
          Shown are the rows of one cause: <bdi>{shown.cause}</bdi>.{" "}
          <button type="button" className="link" onClick={() => ImportPlan.showRows(registry, "rejected")}>
            Show all
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
        <span>{counted(proposed.length, "row has", "rows have")} a slip of the hand that can be put right:</span>
        <button type="button" onClick={() => Corrections.accept(registry, proposed)}>
          Correct {proposed.length === 1 ? "it" : `all ${proposed.length.toLocaleString()}`}
        </button>
      </div>
      <details>
        <summary>Before and after</summary>
        <Table label="Corrections that are proposed" columns={["Line", "Before and after"]} className="rows">
          {proposed.slice(0, shownRows).map((row) => (
            <tr key={row.line}>
              <td className="number">{row.line.toLocaleString()}</td>
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
        {proposed.length > shownRows ? <p>and {(proposed.length - shownRows).toLocaleString()} more</p> : null}
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
      aria-label={`Line ${line}`}
      onSubmit={(event) => {
        event.preventDefault()
        Corrections.keep(registry)
      }}
    >
      <div className="fields">
        {cells.map((cell, at) => (
          <label key={at}>
            {names[at] ?? "Behind the last column"}
            <input
              value={cell}
              autoComplete="off"
              spellcheck={false}
              onChange={({ currentTarget }) => Corrections.write(registry, at, currentTarget.value)}
            />
            {before[at] === cell ? null : (
              <small>
                before: <bdi>{before[at]}</bdi>
              </small>
            )}
            {at < names.length ? null : (
              <button type="button" onClick={() => Corrections.removeCell(registry, at)}>
                Take it out
              </button>
            )}
          </label>
        ))}
      </div>
      <p role="status">
        {email === undefined ? (
          problem
        ) : (
          <>
            It can be imported, as the contact <bdi>{email}</bdi>.
          </>
        )}
      </p>
      <div className="buttons">
        <button type="submit" className="primary" disabled={email === undefined}>
          Keep the correction
        </button>
        <button type="button" onClick={() => registry.set(Corrections.openRow, undefined)}>
          Leave it as it was
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
        {kept === undefined ? "Correct…" : "Correct again…"}
      </button>
      {kept === undefined ? null : (
        <>
          <span>Corrected.</span>
          <button type="button" onClick={() => Corrections.takeBack(registry, row.line)}>
            Take it back
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
        {counted(corrections.size, "row is", "rows are")} corrected
        {unplanned === 0
          ? ", and part of this plan. Each counts at its place in the file: which of the rows with the same address is imported stays as it was said."
          : ". Plan again, so that the plan takes that in."}
      </p>
      <details>
        <summary>Corrected rows</summary>
        <ul>
          {[...corrections].slice(0, shownRows).map(([line, cells]) => (
            <li key={line}>
              line {line.toLocaleString()}: <bdi className="cell">{cells.join(", ")}</bdi>{" "}
              <button
                type="button"
                className="link"
                aria-label={`Take back the correction of line ${line}`}
                onClick={() => Corrections.takeBack(registry, line)}
              >
                take it back
              </button>
            </li>
          ))}
        </ul>
        {corrections.size > shownRows ? <p>and {(corrections.size - shownRows).toLocaleString()} more</p> : null}
      </details>
    </div>
  )
}
