/** What the plan of an import says: a summary for programs, a table for people. */
import type { FieldValue } from "@roster/workflows"
import type { PlanSummary } from "@roster/workflows"
import { counted, printable } from "../../../terminal/Printable.ts"

/** The summary as JSON. */
export const planSummary = (summary: PlanSummary, lists: ReadonlyArray<string>, file: string | undefined) => ({
  ...(file === undefined ? {} : { plan: file }),
  ...summary,
  lists
})

const shownFields = 20

const valueText = (value: FieldValue | null): string => (value === null ? "(none)" : JSON.stringify(value))

/** The summary as text: the changed fields, and the first changes with their old and new values. */
export const planWords = (
  { changed, fields, new: added, onlyLists, sample, unchanged, wouldResubscribe, wouldResubscribeRows }: PlanSummary,
  lists: ReadonlyArray<string>,
  resubscribe: boolean
): string => {
  const names = Object.entries(fields)
  const isMore = (count: number, shown: ReadonlyArray<unknown>, what: string) =>
    count > shown.length ? [`and ${count - shown.length} more${what}`] : []
  return [
    ...Object.entries({ new: added, changed, unchanged }).map(([name, count]) => `${name.padEnd(10)}  ${count}`),
    ...(lists.length === 0 ? [] : [`lists       ${lists.map(printable).join(", ")}`]),
    ...names.slice(0, shownFields).map(([field, count]) => printable(`  ${field}: ${counted(count)}`)),
    ...isMore(names.length, names.slice(0, shownFields), " fields"),
    ...sample.map(({ changes, email, line }) =>
      printable(
        `line ${line}: ${email}: ${Object.entries(changes)
          .map(([field, [old, now]]) => `${field} ${valueText(old)} -> ${valueText(now)}`)
          .join(", ")}`
      )
    ),
    ...isMore(changed - onlyLists, sample, " changes"),
    ...(wouldResubscribe === 0
      ? []
      : [
          `${wouldResubscribe} would resubscribe people who get no mail, ` +
            `${resubscribe ? "as --resubscribe allows" : "and keep their status; --resubscribe allows it"}:`
        ]),
    ...wouldResubscribeRows.map(({ email, line }) => printable(`line ${line}: ${email}`)),
    ...isMore(wouldResubscribe, wouldResubscribeRows, ""),
    ...(onlyLists === 0
      ? []
      : [`This interface does not show who is on a list, so ${onlyLists} unchanged rows are sent, too.`])
  ].join("\n")
}
