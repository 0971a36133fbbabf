/** What a plan and its application come to, in plain words. */
import type { ImportWarning } from "@roster/domain"
import { isWhole, outcomeWords, recipientWords, type RunReport } from "@roster/workflows"
import { counted, people } from "../kit/Counts.ts"
import type { RowChoices } from "./ImportChoices.ts"
import type { Planned, RowKind } from "./thread/ImportCalls.ts"

/** The kinds in the order in which they are shown. */
export const kinds: ReadonlyArray<readonly [kind: RowKind, title: string]> = [
  ["new", "New"],
  ["changed", "Changed"],
  ["alreadySo", "Already so"],
  ["rejected", "Rejected"],
  ["duplicates", "Duplicates"],
  ["kept", "Kept because of consent"],
  ["leftOut", "Left out"]
]

/** The number of rows of each kind. */
export const countsOf = ({ kept, summary }: Planned): Readonly<Record<RowKind, number>> => ({
  new: summary.new,
  changed: summary.changed,
  alreadySo: summary.alreadySo,
  rejected: summary.rejected,
  duplicates: summary.duplicates,
  kept,
  leftOut: summary.leftOut ?? 0
})

/** What a kind of rows means. */
export const meaningOf = (kind: RowKind, { onDuplicate }: Pick<RowChoices, "onDuplicate">): string =>
  ({
    new: "Contacts that are not stored yet.",
    changed: "Contacts that are stored with other values: old beside new.",
    alreadySo: "Contacts that are stored just so.",
    rejected: "Rows that cannot be imported, and why. The others are imported without them.",
    duplicates: `Rows that are merged into a later one with their address: of each field the ${onDuplicate === "first" ? "first" : "last"} value is taken, of the statuses the strictest.`,
    kept: "People who left, complained or cannot be reached, and whom these rows would subscribe again, or who confirmed before. They keep their status.",
    leftOut: "Rows for contacts that this import does not write to, as it was said under 3."
  })[kind]

/** What is odd, where and how often. */
export const warningText = ({ code, column, count, warning }: ImportWarning): string => {
  const rows =
    code === "NoRows"
      ? "The file"
      : code === "Heading"
        ? ""
        : code === "Statuses"
          ? counted(count, "address", "addresses")
          : counted(count, "row")
  const where = column === undefined ? rows : `Column ${column}${rows === "" ? "" : ` (${rows})`}`
  return `${where}: ${warning}`
}

/** What can be done about it on the page. */
export const warningAdvice = ({ code, field }: ImportWarning): string | undefined => {
  if (code === "Blanks") return "Cells can be taken without the blanks around their texts under 3."
  if (code === "Decoding") return "The file may be of another encoding, which can be chosen under 1."
  if (code === "Nothing") return "Correct the file where nothing is meant."
  if (code === "Escaped") return "Export the file again without, or correct it."
  if (code === "Heading") return `If the column means ${field}, choose that under 2.`
  if (code === "Kind") return "What the texts of the column are can be chosen under 2."
  if (code === "Consent") return "What becomes of the column can be chosen under 2."
  return code === "Active" ? "Another status can be chosen under 3, for new contacts." : undefined
}

// The application

/** What applying a plan does. */
export const deedOf = ({
  changed,
  new: added,
  onlyLists
}: Pick<Planned["summary"], "changed" | "new" | "onlyLists">): string =>
  [
    ...(added === 0 ? [] : [`add ${people(added)}`]),
    ...(changed === 0 ? [] : [`change ${people(changed)}`]),
    ...(onlyLists === 0 ? [] : [`put ${people(onlyLists)} on the lists`])
  ]
    .join(" and ")
    .replace(/^./, (first) => first.toUpperCase())

/** What an application came to. */
export const appliedText = (report: RunReport): string =>
  [
    `The import ${isWhole(report) ? "came to its end" : "stopped"}: ${outcomeWords(report)}`,
    ...recipientWords(report, true)
  ].join(" ")

/** What is known of an import that was going on when the page was left. */
export const leftText = (
  left: { readonly digest: string; readonly rows: number },
  { digest, keepsRuns }: { readonly digest: string | undefined; readonly keepsRuns: boolean }
): string =>
  [
    `This page was left before an import of ${left.rows.toLocaleString()} rows came to its end.`,
    "Some of them are stored, and it is not known which.",
    digest === undefined
      ? "Choose the same file and plan it again: the plan shows what is left."
      : digest === left.digest
        ? "This is its file: what was stored already is under “Already so”, and applying the plan does the rest."
        : "This is another file, or the same one read in another way.",
    keepsRuns
      ? "What it stored can be undone under History."
      : "This page no longer knows what it changed, so it cannot undo that part."
  ].join(" ")
