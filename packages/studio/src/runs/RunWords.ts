/** The words for runs: what was done, how it ended, and what an undo would do. */
import { givenBackWords, type ListedRun, type RunHeader, type UndoneContact, type UndoReport } from "@roster/workflows"
import { shortTime } from "../texts/Language.ts"
import { runTexts } from "../texts/RunTexts.ts"
import type { UndoPreview } from "./RunAtoms.ts"
import { fieldTitle } from "../texts/SharedTexts.ts"

/** When a run began, in milliseconds since 1970. */
export const beganAt = ({ began }: RunHeader): number => Date.parse(began)

/** How a run ended, and whether it was undone. */
export const stateWords = ({ header, state, undoneBy }: ListedRun): string => {
  if (undoneBy !== undefined) return runTexts.undoneOn(shortTime(beganAt(undoneBy.header)))
  if (state === "Finished") return runTexts.finished
  if (state === "GoingOn") return runTexts.goingOn
  return header.undoes === undefined ? runTexts.interrupted : runTexts.undoInterrupted
}

/** How many contacts an undo changes. */
export const changedBy = ({ changed, deleted, new: added }: UndoReport): number => changed + deleted + added

/** What an undo would do. */
export const previewWords = ({ report, since }: UndoPreview): ReadonlyArray<string> => {
  const { alreadySo, changed, deleted, incomplete, new: added, rejected, stripped, unknownChanges } = report
  return [
    runTexts.would({ deleted, changedBack: changed - stripped, added, stripped }),
    ...(alreadySo === 0 ? [] : [runTexts.areAlready(alreadySo)]),
    ...(since.Changed === 0 ? [] : [runTexts.changedSince(since.Changed)]),
    ...(since.Deleted === 0 ? [] : [runTexts.deletedSince(since.Deleted)]),
    ...(rejected === 0 ? [] : [runTexts.wouldStay(rejected)]),
    ...(incomplete === 0 ? [] : [runTexts.incomplete(incomplete)]),
    ...unknownChanges.map(runTexts.unrecorded),
    ...givenBackWords(report)
  ]
}

/** What an undo would do to a contact. */
export const stepWords = ({ since, step }: UndoneContact): string =>
  runTexts.steps[step](since === undefined ? "" : runTexts.since[since])

/** The name of a field as people read it. */
export const fieldText = (field: string): string =>
  field.startsWith("CustomFields.")
    ? field.slice("CustomFields.".length)
    : field.startsWith("Lists.")
      ? runTexts.list(field.slice("Lists.".length))
      : fieldTitle(field.replace(/^Consent\./, ""))
