/** The texts of the list of contacts, which stand in the first script. */
import { number } from "./Language.ts"

export const contactTexts = {
  add: "Add a contact…",
  counting: "Counting…",
  searching: "Searching…",
  none: "There are no contacts yet",
  importOrAdd: "Import a file of yours, or add one by hand.",
  noMatch: "No contact matches",
  lookElsewhere: "Look for a part of the name or address, remove a filter, or show all contacts.",
  columnsToShow: "Columns to show",
  table: "Contacts, page by page",
  notSorted: (reason: string): string => `Not sorted here: ${reason}`,

  // Who is chosen

  choosePage: "Choose all of this page",
  choose: (email: string): string => `Choose ${email}`,
  chooseAll: (total: number): string => `Choose all ${number(total)}`,
  chooseNone: "Choose none",
  allChosen: (count: number): string => `All ${number(count)} chosen`,
  chosen: (count: number): string => `${number(count)} chosen`,
  chosenAlone: "Show the chosen alone",
  changes: { status: "Status…", list: "Lists…", custom: "Field…" }
}
