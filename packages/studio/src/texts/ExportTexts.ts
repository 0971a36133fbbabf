/** The texts of the exports. */
import { counted, number } from "./Language.ts"
import { nouns } from "./SharedTexts.ts"

const behind = (total: number | undefined): string => (total === undefined ? "" : `: ${number(total)}`)

const workbook = "Excel workbook (.xlsx)"
const commas = "CSV with commas"

export const exportTexts = {
  formats: {
    Workbook: workbook,
    Semicolons: "CSV with semicolons",
    Commas: commas,
    Json: "JSON",
    Xml: "XML"
  },
  /** The same, where one of them is chosen. */
  formatChoices: {
    Workbook: workbook,
    Semicolons: "CSV with semicolons, for spreadsheets of many countries",
    Commas: commas,
    Json: "JSON, for programs",
    Xml: "XML, for programs"
  },
  states: { Waiting: "being made…", Ready: "ready", Failed: "not ready" },
  columnChoices: { all: "All columns", shown: "Those that Contacts shows", some: "Some of them" },
  making: "Making the file…",
  isMaking: "The export is being made",
  lookAgain: "Look again",

  made: (
    format: string,
    { columns, isZip }: { readonly columns: number | undefined; readonly isZip: boolean }
  ): string =>
    `${format}${columns === undefined ? "" : `, ${counted(columns, nouns.column)}`}${isZip ? ", in a ZIP file" : ""}`,
  format: "Format",
  besideAddress: "Columns beside the address",
  withLists: "With their lists",
  zip: "In a ZIP file",
  onlyChosen: (chosen: number): string => `Only the ${number(chosen)} chosen`,
  exportChosen: (chosen: number): string => `Export the chosen: ${number(chosen)}`,
  exportAll: (total: number | undefined): string => `Export all contacts${behind(total)}`,
  exportFiltered: (total: number | undefined): string => `Export those of the filter${behind(total)}`,
  files: "Files of this session",
  noFile: "No file yet",
  noFileYet:
    "Files that are asked for stand here until the page is left. A link opens its file without a key for a while.",
  headings: { requested: "Asked for", file: "File" }
}
