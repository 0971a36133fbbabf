/** The plan: made of the file and what is said of it, so that nothing is stored by it; what each row would do, counted and listed. */
import type { ImportWarning } from "@roster/domain"
import { recipientWords } from "@roster/workflows"
import { AsyncResult } from "effect/reactivity"
import { useAtom, useAtomSet, useAtomValue, useRegistry } from "../kit/Atoms.tsx"

import { download } from "../kit/Download.ts"
import { Pager } from "../kit/Pager.tsx"
import { Problem, problemOf } from "../kit/Problem.tsx"
import { Numbers, Table } from "../kit/Table.tsx"
import { missing } from "../session/Rights.tsx"
import { importTexts } from "../texts/ImportTexts.ts"
import { number } from "../texts/Language.ts"
import { nouns, fieldTitle, sharedTexts, statusWords } from "../texts/SharedTexts.ts"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPlan from "./ImportPlan.ts"
import * as ImportApply from "./ImportApply.ts"
import { step, StepActions } from "./ImportSteps.tsx"
import { countsOf, deedOf, kinds, meaningOf, warningAdvice, warningText } from "./ImportWords.ts"
import { Causes, CorrectedRows, CorrectRow, OpenCells, Proposals } from "./RejectedRows.tsx"
import type { Planned, PlanProgress, RowsFileRequest, ShownRow } from "./thread/ImportCalls.ts"

const Progress = ({ progress }: { readonly progress: PlanProgress | undefined }) => {
  if (progress?._tag === "Planning") {
    return (
      <label>
        {importTexts.compared(progress.rows, progress.total)}
        <progress value={progress.rows} max={Math.max(1, progress.total)} />
      </label>
    )
  }
  return (
    <label>
      {progress?._tag === "Reading" ? importTexts.rowsRead(progress.rows) : importTexts.readingNow}
      <progress />
    </label>
  )
}

const { address, changes, line: lineHeading } = importTexts.planHeadings

const columns = [<Numbers key="line">{lineHeading}</Numbers>, address, changes]

const Row = ({ isApplied, row }: { readonly row: ShownRow; readonly isApplied: boolean }) => {
  const { email, fields, keptStatus, line, onlyForm = [], reason, suggestion } = row
  return (
    <>
      <tr>
        <td className="number">{number(line)}</td>
        <td className="address">
          <bdi>{email}</bdi>
        </td>
        <td>
          {reason === undefined ? null : <p>{reason}</p>}
          {keptStatus === undefined ? null : <p>{importTexts.stays(statusWords(keptStatus))}</p>}
          {suggestion === undefined ? null : <p>{importTexts.probably(<bdi>{suggestion}</bdi>)}</p>}
          {fields.length === 0 ? null : (
            <ul className="values">
              {fields.map(([name, old, now]) => (
                <li key={name}>
                  <bdi>{fieldTitle(name)}</bdi> {old === null ? null : <bdi className="old">{old}</bdi>}{" "}
                  {now === null ? (
                    <em>{sharedTexts.none}</em>
                  ) : (
                    <bdi className={reason === undefined ? "new" : "old"}>{now}</bdi>
                  )}
                  {onlyForm.includes(name) ? <small> {importTexts.onlyForm}</small> : null}
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
      <Pager first={first} noun={nouns.row} total={total} onFirst={setFirst} />
      <Table label={importTexts.rowsOfPlan} columns={columns} className="rows" isWaiting={rows.waiting}>
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
    <summary>{importTexts.odd(warnings.length)}</summary>
    <ul>
      {warnings.map((warning) => (
        <li key={warningText(warning)}>
          <bdi>{warningText(warning)}</bdi>. {warningAdvice(warning)}
          <ul className="values">
            {warning.examples.map(({ line, value }) => (
              <li key={line}>{importTexts.cellInLine(line, <bdi className="cell">{value}</bdi>)}</li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  </details>
)

const PlannedRows = ({ planned }: { readonly planned: Planned }) => {
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
        {importTexts.counts(planned.summary.read, of)}{" "}
        {isApplied ? "" : [importTexts.nothingStored, ...recipientWords(planned.summary)].join(" ")}
      </p>
      {planned.summary.warnings === undefined ? null : <Warnings warnings={planned.summary.warnings} />}
      <fieldset className="kinds">
        <legend className="unseen">{importTexts.rowsToShow}</legend>
        {kinds.map((id) =>
          id === "leftOut" && of.leftOut === 0 ? null : (
            <label key={id} className="choice">
              <input
                type="radio"
                name="kind"
                checked={kind === id}
                onChange={() => ImportPlan.showRows(registry, id)}
              />
              {importTexts.kindTitles[id]} <strong>{number(of[id])}</strong>
            </label>
          )
        )}
      </fieldset>
      <p>{meaningOf(kind, { onDuplicate })}</p>
      {kind === "rejected" && of.rejected > 0 ? (
        <div className="stack">
          {isApplied ? null : <Proposals />}
          <Causes planned={planned} />
          <SaveRows planned={planned} of="rejected">
            {importTexts.downloadRejected}
          </SaveRows>
        </div>
      ) : null}
      {kind === "duplicates" && of.duplicates > 0 ? (
        <SaveRows planned={planned} of="duplicates">
          {importTexts.downloadRepeated}
        </SaveRows>
      ) : null}
      {of[kind] === 0 ? <p>{sharedTexts.thereAreNone}</p> : <Rows total={total} isApplied={isApplied} />}
      <p>
        <button
          type="button"
          onClick={() => download(ImportFile.beside(chosen?.name ?? "contacts", ".plan.json"), planned.content)}
        >
          {importTexts.downloadPlan}
        </button>
      </p>
    </>
  )
}

const Apply = ({ planned }: { readonly planned: Planned }) => {
  const registry = useRegistry()
  const start = useAtomSet(ImportApply.apply)
  const lacking = useAtomValue(missing("ModifyContacts"))
  const refusal = useAtomValue(ImportPlan.refusal)
  const reason = lacking ?? refusal
  const { changed, new: added, onlyLists } = planned.summary
  if (added + changed + onlyLists === 0) return <span>{importTexts.changesNothing}</span>
  return (
    <>
      <button
        type="button"
        className="primary"
        disabled={reason !== undefined}
        onClick={() => {
          start(planned)
          registry.set(step, "done")
        }}
      >
        {deedOf(planned.summary)}
      </button>
      <span>{reason}</span>
    </>
  )
}

export const PlanStep = () => {
  const registry = useRegistry()
  const result = useAtomValue(ImportPlan.plan)
  const isPlanning = useAtomValue(ImportPlan.isPlanning)
  const planned = useAtomValue(ImportPlan.planned)
  const isApplied = !AsyncResult.isInitial(useAtomValue(ImportApply.apply))
  const isReady = useAtomValue(ImportPlan.isReady)
  return (
    <>
      <div className="step-body">
        {isPlanning ? <Progress progress={AsyncResult.isSuccess(result) ? result.value : undefined} /> : null}
        <Problem message={problemOf(result)} />
        {isApplied ? null : <CorrectedRows />}
        {planned === undefined ? null : <PlannedRows planned={planned} />}
      </div>
      <StepActions at="plan">
        {isPlanning ? (
          <button type="button" onClick={() => ImportApply.forgetPlan(registry)}>
            {sharedTexts.stop}
          </button>
        ) : isApplied ? null : (
          <button type="button" disabled={!isReady} onClick={() => ImportApply.makePlan(registry)}>
            {importTexts.planAgain}
          </button>
        )}
        {planned === undefined || isApplied ? null : <Apply planned={planned} />}
      </StepActions>
    </>
  )
}
