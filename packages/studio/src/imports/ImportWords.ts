/** What a plan and its application come to, in plain words. */
import type { ImportWarning } from "@roster/domain"
import { importTexts } from "../texts/ImportTexts.ts"
import { sharedTexts } from "../texts/SharedTexts.ts"
import type { RowChoices } from "./ImportChoices.ts"
import type { Planned, RowKind } from "./thread/ImportCalls.ts"

/** The kinds in the order in which they are shown. */
export const kinds: ReadonlyArray<RowKind> = [
  "new",
  "changed",
  "alreadySo",
  "rejected",
  "duplicates",
  "kept",
  "leftOut"
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
  importTexts.meanings[kind === "duplicates" && onDuplicate === "first" ? "duplicatesOfFirst" : kind]

/** What is odd, where and how often. */
export const warningText = ({ code, column, count, warning }: ImportWarning): string => {
  const { addressCount, ofColumn, rowCount, theFile } = importTexts
  const rows =
    code === "NoRows" ? theFile : code === "Heading" ? "" : code === "Statuses" ? addressCount(count) : rowCount(count)
  return importTexts.warning(column === undefined ? rows : ofColumn(column, rows), warning)
}

const advice: Readonly<Record<string, string>> = importTexts.advice

/** What can be done about it on the page. */
export const warningAdvice = ({ code, field }: ImportWarning): string | undefined =>
  code === "Heading" ? importTexts.headingAdvice(String(field)) : advice[code]

// The application

/** What applying a plan does. */
export const deedOf = ({
  changed,
  new: added,
  onlyLists
}: Pick<Planned["summary"], "changed" | "new" | "onlyLists">): string =>
  importTexts.deed({ added, changed, onLists: onlyLists })

/** What is known of an import that was going on when the page was left. */
export const leftText = (
  left: { readonly digest: string; readonly rows: number },
  { digest, keepsRuns }: { readonly digest: string | undefined; readonly keepsRuns: boolean }
): string =>
  [
    importTexts.left(left.rows),
    digest === undefined
      ? importTexts.chooseAgain
      : digest === left.digest
        ? importTexts.isItsFile
        : importTexts.isOtherFile,
    keepsRuns ? importTexts.undoUnder(sharedTexts.views.history).join("") : importTexts.cannotUndo
  ].join(" ")
