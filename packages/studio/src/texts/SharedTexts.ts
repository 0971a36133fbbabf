/** Texts that several rooms of the page say, those of its kit among them. */
import { counted, type Forms, number } from "./Language.ts"

/** The nouns of things that are counted. */
export const nouns = {
  address: { one: "address", other: "addresses" },
  column: { one: "column", other: "columns" },
  contact: { one: "contact", other: "contacts" },
  correction: { one: "correction", other: "corrections" },
  month: { one: "month", other: "months" },
  part: { one: "part", other: "parts" },
  row: { one: "row", other: "rows" }
}

/** A number of contacts. */
export const people = (count: number): string => counted(count, nouns.contact)

export const sharedTexts = {
  close: "Close",
  oneMoment: "One moment…",
  stop: "Stop",
  download: "Download",
  importFile: "Import a file",
  newVersion: "There is a new version of the page: reload it to go on.",
  notLoaded: "This part of the page could not be loaded. Look whether the service can be reached, and try again.",
  partFailed: "This part of the page failed. What was stored stays as it is.",
  bug: "This is a bug in Roster Studio. What was stored stays as it is; reload the page to go on.",
  reload: "Reload the page",
  tryAgain: "Try again",
  /** A rule in messages. */
  theFilter: "The filter",
  /** Fields in messages, by their names in code. */
  fieldsOfErrors: {
    email: "E-mail address",
    expires: "When it ends",
    ipRanges: "Addresses from which it may be used",
    listName: "Name of the list",
    name: "Name",
    newListName: "New name of the list",
    rule: "Filter"
  },
  first: "First",
  previous: "Previous",
  next: "Next",
  last: "Last",
  rowsPerPage: "Rows a page",
  ofRows: (size: number): string => `${number(size)} rows`,
  page: (from: number, to: number, total: number, noun: Forms): string =>
    `${number(from)} to ${number(to)} of ${counted(total, noun)}`
}

/** Maximum number of characters that a table or a list shows of a text. */
const longest = 300

/** A text as far as it is shown, with its length where that is not all. */
export const shortened = (value: string | number): string => {
  const text = String(value)
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${number(text.length)} characters)`
}
