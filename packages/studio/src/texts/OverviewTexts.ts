/** The texts of the overview. */
import type { ReactNode } from "preact/compat"
import { type Marked, number, plural, sentence } from "./Language.ts"
import { fieldTitles, people, sharedTexts } from "./SharedTexts.ts"

export const overviewTexts = {
  counted: (at: ReactNode): ReactNode => sentence`Counted ${at}`,
  counting: "The contacts are being counted…",
  noNumbers: "This service tells no numbers; the list of contacts says how many there are.",
  save: "Save as a file",
  nobody: "There is nobody to count yet",
  firstSteps: (importFile: Marked, addContact: Marked): ReactNode =>
    sentence`${importFile(sharedTexts.importFile)}, or ${addContact("add a contact")}.`,
  figures: { all: sharedTexts.views.contacts, mailed: "Get mail", unmailed: "Get no mail" },
  asBar: "As a bar",

  statuses: "Who gets mail, and who does not",
  byStatus: "Contacts by status",

  getsNone: "gets none",

  months: "Added by month",
  growth: (added: number, months: number): string =>
    `${people(added)} added in ${plural(months, { one: "the last month", other: `the last ${number(months)} months` })}, as the table below has them`,
  inMonth: (month: string, contacts: number): string => `${month}: ${number(contacts)}`,
  asTable: "As a table",
  byMonth: "Contacts by the month in which they were added",
  month: "Month",

  noLists: (make: Marked): ReactNode => sentence`There are no lists yet. ${make("Make one")}`,
  largest: "The largest lists",
  allLists: (count: number): string => `All ${number(count)} lists`,

  runs: "What was done last",
  nothing: "Nothing was changed yet.",
  newest: "The newest runs",
  ended: "How it ended",
  history: "The whole history",

  keys: "Keys that end soon",
  noKeys: (days: number): string => `No key ends within ${number(days)} days.`,
  hasEnded: "has ended",
  endsSoon: "ends soon",
  allKeys: "All keys",

  /** The headings and kinds of rows of the file. */
  file: {
    kind: "Kind",
    name: sharedTexts.name,
    contacts: sharedTexts.views.contacts,
    total: "Total",
    status: fieldTitles.Status,
    addedIn: "Added in",
    list: sharedTexts.list
  }
}
