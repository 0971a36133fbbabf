/** The words for runs: what was done, how it ended, and what an undo would do. */
import {
  deeds,
  givenBackWords,
  type ListedRun,
  type RunChange,
  type RunHeader,
  strippedWords,
  type UndoneContact,
  type UndoReport,
  unwritable
} from "@roster/workflows"
import { people } from "../kit/Counts.ts"
import { fieldTitle } from "../kit/FieldTitles.ts"
import { shortTime } from "../kit/Times.tsx"
import type { UndoPreview } from "./RunAtoms.ts"

/** When a run began, in milliseconds since 1970. */
export const beganAt = ({ began }: RunHeader): number => Date.parse(began)

/** How a run ended, and whether it was undone. */
export const stateWords = ({ header, state, undoneBy }: ListedRun): string => {
  if (undoneBy !== undefined) return `undone on ${shortTime(beganAt(undoneBy.header))}`
  if (state === "Finished") return "finished"
  if (state === "GoingOn") return "going on"
  return header.undoes === undefined ? "interrupted" : "interrupted: undo the same again to go on"
}

const isOrAre = (count: number): string => (count === 1 ? "is" : "are")

/** How many contacts an undo changes. */
export const changedBy = ({ changed, deleted, new: added }: UndoReport): number => changed + deleted + added

/** What an undo would do. */
export const previewWords = ({ report, since }: UndoPreview): ReadonlyArray<string> => {
  const { alreadySo, changed, deleted, incomplete, new: added, rejected, stripped, unknownChanges } = report
  const does = deeds([
    [deleted, "that the run added would be deleted"],
    [changed - stripped, "would be changed back"],
    [added, "would be added again"],
    [stripped, strippedWords("would lose")]
  ])
  return [
    does === "" ? "The undo would change nothing." : `${does}.`,
    ...(alreadySo === 0 ? [] : [`${people(alreadySo)} ${isOrAre(alreadySo)} as before already.`]),
    ...(since.Changed === 0 ? [] : [`${people(since.Changed)} changed since: what others wrote would stay.`]),
    ...(since.Deleted === 0 ? [] : [`${people(since.Deleted)} deleted since: they would stay deleted.`]),
    ...(rejected === 0 ? [] : [`${people(rejected)} would stay: ${unwritable}.`]),
    ...(incomplete === 0 ? [] : [`Of ${people(incomplete)} this service could not bring back everything.`]),
    ...unknownChanges.map((what) => `Not recorded, and would be left as it is: ${what}`),
    ...givenBackWords(report)
  ]
}

/** What an undo would do to a contact. */
export const stepWords = ({ since, step }: UndoneContact): string => {
  const other = since === undefined ? "" : since === "Changed" ? "changed since" : "deleted since"
  switch (step) {
    case "Keep":
      return `${other}: stays`
    case "ChangeBack":
      return other === "" ? "would be changed back" : `${other}: the rest would be changed back`
    case "Strip":
      return `added by the run, ${other}: what only the run gave would go`
    case "Delete":
      return "would be deleted"
    case "AddAgain":
      return "would be added again"
    case "AsBefore":
      return "as before already"
    case "Unwritable":
      return `stays: ${unwritable}`
    case "LeftOut":
      return "left out"
  }
}

/** What a run did to a contact as a whole. */
export const effectWords: Readonly<Record<RunChange["effect"], string>> = {
  Created: "added",
  Changed: "changed",
  Deleted: "deleted"
}

/** The name of a field as people read it. */
export const fieldText = (field: string): string =>
  field.startsWith("CustomFields.")
    ? field.slice("CustomFields.".length)
    : field.startsWith("Lists.")
      ? `list ${field.slice("Lists.".length)}`
      : fieldTitle(field.replace(/^Consent\./, ""))
