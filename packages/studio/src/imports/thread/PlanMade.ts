/** The rows of a plan that was made: listed by kind and cause, as they are shown and as files, with corrections of slips. */
import { type ImportRow, type InvalidInput, rejectedFile, type UnreadableFile } from "@roster/domain"
import { ContactFields, contactOf, formatWireDate, type RowCheck } from "@roster/domain/internal"
import {
  duplicatesFile,
  type Plan,
  type PlannedRow,
  type Rejection,
  type UnreadablePlan,
  type UploadSurvey
} from "@roster/workflows"
import { DateTime, Result, Stream } from "effect"
import { threadTexts } from "../../texts/ThreadTexts.ts"
import type { ImportProblem, ProposedCorrection, RowsFileRequest, RowsRequest, ShownRow } from "./ImportCalls.ts"

/** A plan that was made, with what lists its rows. */
export interface PlanMade {
  readonly plan: Plan
  readonly survey: UploadSurvey
  readonly rows: Stream.Stream<ImportRow, ImportProblem | InvalidInput | UnreadableFile>
  /** The lines of rows that the plan itself does not have. */
  readonly alreadySo: ReadonlySet<number>
  /** With the statuses that their contacts keep. */
  readonly kept: ReadonlyMap<number, string>
  readonly leftOut: ReadonlySet<number>
  /** What an import makes of other cells for a row; rows of JSON are not corrected here. */
  readonly check: RowCheck | undefined
}

/** Length of a value beyond which the page shows its beginning; the file of the plan has all of it. */
const longestShown = 300

const textOf = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  const text = DateTime.isDateTime(value) ? formatWireDate(DateTime.toUtc(value)) : String(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** What is written of a new contact. */
const writtenFields = ({ change }: PlannedRow): ShownRow["fields"] => {
  const { customFields, ...write } = change.write ?? {}
  const own = ContactFields.addedFields.flatMap(({ read, wire }) => {
    const value = textOf(read({ ...write, email: "" }))
    return value === null || wire === "Email" ? [] : [[wire, null, value] as const]
  })
  return [...own, ...Object.entries(customFields ?? {}).map(([name, value]) => [name, null, textOf(value)] as const)]
}

/** The name of a field of a change, as it is shown. */
const shownField = (name: string): string => name.replace(/^(?:CustomFields|Consent)\./, "")

const shownPlanned = (row: PlannedRow, keptStatus: string | undefined): ShownRow => ({
  line: row.line,
  email: row.change.email,
  ...(keptStatus === undefined ? {} : { keptStatus }),
  ...(row.onlyForm === undefined ? {} : { onlyForm: row.onlyForm.map(shownField) }),
  fields:
    row.fields === undefined
      ? writtenFields(row)
      : Object.entries(row.fields).map(([name, [old, now]]) => [shownField(name), textOf(old), textOf(now)] as const)
})

/** A row whose contact is not written to, and what its status would be if it does not keep one. */
const shownRow = (row: ImportRow, keptStatus?: string): ShownRow => {
  const contact = contactOf(row)
  const shown = { line: row.line, email: Result.isSuccess(contact) ? contact.success.email : "" }
  if (keptStatus !== undefined) return { ...shown, fields: [], keptStatus }
  const status = Result.isSuccess(contact) ? contact.success.status : undefined
  return { ...shown, fields: status === undefined ? [] : [["Status", null, status]] }
}

/** A row that is merged into another, with all that it gives. */
const shownRepeated = (row: ImportRow, otherLine: number): ShownRow => {
  const { cells = [], names = [] } = row.record ?? {}
  return {
    ...shownRow(row),
    reason: threadTexts.mergedInto(otherLine),
    fields: cells.flatMap((cell, at) => (cell.trim() === "" ? [] : [[names[at] ?? "", null, textOf(cell)] as const]))
  }
}

interface Rejected {
  readonly row: ImportRow
  readonly rejection: Rejection
}

/** The rows that are rejected, and why: by the file itself, those with the same address too, or by what is stored. */
const rejectedRows = ({ plan, rows, survey }: PlanMade) =>
  Stream.suspend(() => {
    const refused = new Map(plan.summary.rejectedRows.map((row) => [row.line, row]))
    let number = 0
    return Stream.filterMap(rows, (row): Result.Result<Rejected, undefined> => {
      const rejection = survey.rejectionOf(row, ++number) ?? refused.get(row.line)
      return rejection === undefined ? Result.fail(undefined) : Result.succeed({ row, rejection })
    })
  })

const shownRejected =
  (check: RowCheck | undefined) =>
  ({ rejection, row }: Rejected): ShownRow => {
    const { column, email = "", reason, suggestion, value } = rejection
    const proposal = check?.propose(row.cells)
    return {
      line: row.line,
      email,
      reason,
      fields: column === undefined || value === undefined ? [] : [[column, null, value]],
      ...(suggestion === undefined ? {} : { suggestion }),
      ...(check === undefined ? {} : { cells: row.cells }),
      ...(proposal === undefined ? {} : { proposal })
    }
  }

/** The rows of a plan of a kind, as they are shown. */
export const rowsOf = (
  made: PlanMade,
  { cause, kind }: Pick<RowsRequest, "kind" | "cause">
): Stream.Stream<ShownRow, ImportProblem | InvalidInput | UnreadableFile | UnreadablePlan> => {
  const { alreadySo, check, kept, leftOut, plan, rows, survey } = made
  if (kind === "rejected") {
    const isShown = ({ rejection }: Rejected): boolean =>
      cause === undefined ||
      (cause.cause === (rejection.cause ?? rejection.reason) && cause.column === rejection.column)
    return rejectedRows(made).pipe(Stream.filter(isShown), Stream.map(shownRejected(check)))
  }
  if (kind === "new" || kind === "changed") {
    return plan.rows.pipe(
      Stream.filter(({ change, fields = {} }) =>
        kind === "new" ? change.seen === null : Object.keys(fields).length > 0
      ),
      Stream.map((row) => shownPlanned(row, kept.get(row.line)))
    )
  }
  const lines = { alreadySo, kept, leftOut }
  let number = 0
  return Stream.filterMap(rows, (row) => {
    const other = survey.otherLine(++number)
    if (kind !== "duplicates") {
      if (!lines[kind].has(row.line)) return Result.fail(undefined)
      return Result.succeed(shownRow(row, kept.get(row.line)))
    }
    return other === undefined ? Result.fail(undefined) : Result.succeed(shownRepeated(row, other))
  })
}

/** Maximum number of corrections that are proposed. A person looks at them. */
const mostProposals = 10_000

/** The rejected rows with a slip, and the slip put right. */
export const proposalsOf = (made: PlanMade) =>
  rejectedRows(made).pipe(
    Stream.filterMap(({ row }): Result.Result<ProposedCorrection, undefined> => {
      const after = made.check?.propose(row.cells)
      return after === undefined ? Result.fail(undefined) : Result.succeed({ line: row.line, before: row.cells, after })
    }),
    Stream.take(mostProposals),
    Stream.runCollect
  )

/** The file of the rejected or repeated rows of a plan. */
export const fileOf = (made: PlanMade, of: RowsFileRequest["of"]) => {
  const { header = { cells: [], delimiter: "," }, otherLine } = made.survey
  return of === "duplicates"
    ? duplicatesFile(made.rows, { header, otherLine })
    : rejectedFile(
        header,
        Stream.map(rejectedRows(made), ({ rejection: { reason }, row: { cells } }) => ({ cells, reason }))
      )
}
