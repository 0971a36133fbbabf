/** The words for what a run did, or an undo. */
import type { RunReport, UndoReport } from "@roster/workflows"
import { people } from "../kit/Counts.ts"

/** Whether every row of a run has an answer. */
export const isWhole = ({ notSent, unknown }: Pick<RunReport, "notSent" | "unknown">): boolean =>
  notSent + unknown === 0

/** Why a contact stays that an undo would change. */
export const unwritable = "a value of before may not be written"

/** What was done to contacts, or would be, as the parts of a sentence. */
export const sentence = (parts: ReadonlyArray<readonly [count: number, words: string]>): string =>
  parts.flatMap(([count, words]) => (count === 0 ? [] : [`${people(count)} ${words}`])).join(", ")

type Counts = Pick<RunReport, "changed" | "deleted" | "new" | "notSent" | "outdated" | "rejected" | "unknown">

/** What a run did, or an undo of one. */
export const reportWords = (report: Counts & Partial<Pick<UndoReport, "partlyDone">>): ReadonlyArray<string> => {
  const { changed, deleted, new: added, notSent, outdated, partlyDone, rejected, unknown } = report
  const isUndo = partlyDone !== undefined
  const did = sentence([
    [deleted, "deleted"],
    [changed, isUndo ? "changed back" : "changed"],
    [added, isUndo ? "added again" : "added"]
  ])
  const left = outdated + (partlyDone ?? 0)
  return [
    did === "" ? "Nothing was changed." : `${isUndo ? "Undone" : "Done"}: ${did}.`,
    ...(left === 0 ? [] : [`${people(left)} changed or deleted by others since: what they did stays.`]),
    ...(rejected === 0 ? [] : [`${people(rejected)} left: ${isUndo ? unwritable : "the service refused it"}.`]),
    ...(isWhole(report) ? [] : [`Of ${people(notSent + unknown)} it is not done or not known; do it again.`])
  ]
}
