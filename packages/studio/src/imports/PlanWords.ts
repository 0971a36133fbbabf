/** The kinds of rows of a plan, and what is odd in them, in words for whoever has not made the program. */
import type { ImportWarning } from "@roster/domain"
import { counted } from "../kit/Counts.ts"
import type { RowChoices } from "./ImportChoices.ts"
import type { Planned, RowKind } from "./thread/ImportCalls.ts"

/** The kinds in the order in which they are shown. */
export const kinds: ReadonlyArray<readonly [kind: RowKind, title: string]> = [
  ["new", "New"],
  ["changed", "Changed"],
  ["unchanged", "Unchanged"],
  ["rejected", "Rejected"],
  ["repeated", "Repeated"],
  ["kept", "Kept because of consent"],
  ["leftOut", "Left out"]
]

/** The number of rows of each kind. */
export const countsOf = ({ kept, summary }: Planned): Readonly<Record<RowKind, number>> => ({
  new: summary.new,
  changed: summary.changed,
  unchanged: summary.unchanged,
  rejected: summary.rejected,
  repeated: summary.duplicates,
  kept,
  leftOut: summary.leftOut ?? 0
})

/** What a kind of rows means. */
export const meaningOf = (
  kind: RowKind,
  { onDuplicate, resubscribe }: Pick<RowChoices, "onDuplicate"> & { readonly resubscribe: boolean }
): string =>
  ({
    new: "Contacts that are not stored yet.",
    changed: "Contacts that are stored with other values: old beside new.",
    unchanged: "Contacts that are stored just so.",
    rejected: "Rows that cannot be imported, and why. The others are imported without them.",
    repeated: `Rows that are not imported, since ${onDuplicate === "first" ? "an earlier" : "a later"} row has their address: what they have is lost.`,
    kept: resubscribe
      ? "People who get no mail, and whom these rows subscribe again."
      : "People who left, complained or cannot be reached, and whom these rows would subscribe again. They keep their status.",
    leftOut: "Rows for contacts that this import does not write to, as it was said above."
  })[kind]

/** What is odd, where and how often. */
export const warningText = ({ code, column, count, warning }: ImportWarning): string => {
  const rows = code === "Heading" ? "" : counted(count, "row")
  const where = column === undefined ? rows : `Column ${column}${rows === "" ? "" : ` (${rows})`}`
  return `${where}: ${warning}`
}

/** What can be done about it on the page. */
export const warningAdvice = ({ code, field }: ImportWarning): string | undefined => {
  if (code === "Blanks") return "Cells can be taken without the blanks around their texts, above."
  if (code === "Decoding") return "The file may be of another encoding, which can be chosen under 1."
  if (code === "Heading") return `If the column means ${field}, choose that under 2.`
  return code === "Active" ? "Another status can be chosen above for new contacts." : undefined
}
