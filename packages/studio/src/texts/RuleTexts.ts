/** The texts of what selects contacts: the box, its filters and the saved ones. */
import type { ReactNode } from "preact/compat"
import { type Marked, number, sentence } from "./Language.ts"

export const ruleTexts = {
  box: "Name, address or filter",
  placeholder: "Anna Meyer, anna@example.com, or status = Active",
  whatMayBeWritten: "What may be written here",
  haveIt: (contacts: number): string => `${number(contacts)} have it`,
  find: "Find",
  /** What words became, each of which stands in an element of its own. */
  whoeverHas: (words: ReadonlyArray<string>, marked: Marked): ReactNode =>
    sentence`Whoever has ${words.map((word, at) => [at === 0 ? "“" : " and “", marked(word), "”"])} in the address, first or last name.`,
  writeAsFilter: "Write it as a filter",
  findQuoted: (rule: ReactNode): ReactNode => sentence`Find ${rule}`,
  lookForInstead: (words: ReadonlyArray<string>, marked: Marked): ReactNode =>
    sentence`Look for ${marked(words.join(" and "))} in addresses and names instead`,

  // Filters

  filters: "Filters",
  remove: (filter: string): string => `Remove the filter ${filter}`,
  empty: "empty",
  word: (word: string): string => `“${word}”`,
  values: (field: string, values: ReadonlyArray<string>): string => `${field}: ${values.join(" or ")}`,
  isNotOnList: (list: string): string => `Not on the list ${list}`,
  isAddedSince: (day: string): string => `Added since ${day}`,
  onList: "On the list",
  chooseList: "Choose a list…",
  addedSince: "Added since",
  itsValue: "Its value",
  showEmpty: "Show where it is empty",
  add: "Add the filter",

  // Days to choose from

  days: {
    today: "today",
    yesterday: "yesterday",
    weekAgo: "a week ago",
    firstOfMonth: "the first of this month",
    firstOfYear: "the first of this year"
  },
  dayHere: (words: string, day: string): string => `${words}, ${day}, in your zone`,

  // Saved filters

  saved: "Saved filters",
  noneSaved: "No filter is saved yet. Set one above, and give it a name here.",
  removeIt: "Remove",
  removeNamed: (name: string): string => `Remove @${name}`,
  name: "Name for this filter",
  save: "Save it",
  isTaken: (name: string): string =>
    `There is a filter @${name} already. Save this one in its place, or under another name.`,
  saveInPlace: (name: string): string => `Save it in place of @${name}`,
  isSaved: (name: string): string => `@${name} is saved.`,
  nothingToSave: "write the rule to save first",
  unavailable: (detail: string): string => `The saved rules are not available: ${detail}`,
  noAnswer: "the process that serves this page does not answer."
}
