/** Texts that several rooms of the page say, those of its kit and the names of fields and their values among them. */
import type { ConsentTracking, ContactSource, ContactStatus } from "@roster/domain"
import type { ReactNode } from "preact/compat"
import { counted, type Forms, type Marked, number, sentence } from "./Language.ts"

/** The nouns of things that are counted. */
export const nouns = {
  address: { one: "address", other: "addresses" },
  column: { one: "column", other: "columns" },
  contact: { one: "contact", other: "contacts" },
  correction: { one: "correction", other: "corrections" },
  row: { one: "row", other: "rows" }
}

/** A number of contacts. */
export const people = (count: number): string => counted(count, nouns.contact)

export const sharedTexts = {
  /** The views, by their addresses. */
  views: {
    contacts: "Contacts",
    overview: "Overview",
    lists: "Lists",
    import: "Import",
    export: "Export",
    history: "History",
    keys: "Keys"
  },
  close: "Close",
  oneMoment: "One moment…",
  stop: "Stop",
  copy: "Copy",
  copied: "Copied",
  download: "Download",
  importFile: "Import a file",
  undo: "Undo",
  name: "Name",
  key: "Key",
  mail: "Mail",
  state: "State",
  ends: "Ends",
  when: "When",
  what: "What",
  list: "List",
  field: "Field",
  columns: "Columns",
  whatToDo: "What to do",
  whatWasDone: "What was done",
  thereAreNone: "There are none.",
  showAll: "Show all",
  onList: (list: string): string => `On the list ${list}`,
  export: "Export…",
  delete: "Delete…",
  deleteNamed: (name: string, unseen: Marked): ReactNode => sentence`Delete${unseen(` ${name}`)}…`,
  chooseField: "Choose a field…",
  allContacts: "all contacts",
  readingContacts: "Reading the contacts…",
  showList: "Show everybody on this list",
  getsMail: "gets mail",
  none: "none",
  itIs: (name: ReactNode): ReactNode => sentence`It is ${name}`,
  andMore: (count: number): string => `and ${number(count)} more`,
  newVersion: "There is a new version of the page: reload it to go on.",
  notLoaded: "This part of the page could not be loaded. Look whether the service can be reached, and try again.",
  partFailed: "This part of the page failed. What was stored stays as it is.",
  bug: "This is a bug in Roster Studio. What was stored stays as it is; reload the page to go on.",
  reload: "Reload the page",
  tryAgain: "Try again",
  /** Who does something without a key: a command on the machine where the contacts are kept. */
  owner: "the owner, without a key",
  /** Of a write without an answer. */
  maybeDone: (why: string): string =>
    `Nobody knows whether this was done: ${why}. Look whether it is, and do it again if not.`,
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

// Fields and their values

/** The names that people read for the fields of a contact. Rules, files and the command line have the technical ones. */
export const fieldTitles = {
  Email: "E-mail",
  Status: "Status",
  FirstName: "First name",
  LastName: "Last name",
  Lists: "Lists",
  CustomFields: "Custom fields",
  ConsentIP: "Consent IP",
  ConsentDate: "Consent date",
  ConsentTracking: "Consent to tracking",
  Source: "Source",
  DateAdded: "Added",
  DateUpdated: "Changed",
  StatusChangeDate: "Status since",
  TotalSent: "E-mails sent",
  TotalOpened: "E-mails opened",
  TotalClicked: "E-mails clicked",
  TotalFailed: "E-mails failed",
  LastSent: "Last sent",
  LastOpened: "Last opened",
  LastClicked: "Last clicked",
  LastFailed: "Last failed",
  LastIP: "Last IP",
  ErrorCode: "Error code",
  FriendlyErrorMessage: "Why the last one failed"
}

const titles: ReadonlyMap<string, string> = new Map(Object.entries(fieldTitles))

/** The name of a field: `FirstName` as "First name". A custom field has the name that people gave it. */
export const fieldTitle = (name: string): string => titles.get(name) ?? name

/** The values of fields that are names of the program. */
export const valueTitles = {
  Transactional: "Transactional",
  Engaged: "Engaged",
  Active: "Active",
  Bounced: "Bounced",
  Unsubscribed: "Unsubscribed",
  Abuse: "Abuse",
  Inactive: "Inactive",
  Stale: "Stale",
  NotConfirmed: "Not confirmed",
  Unknown: "Unknown",
  Allow: "Allow",
  Deny: "Deny",
  DeliveryApi: "Delivery API",
  ManualInput: "Manual input",
  FileUpload: "File upload",
  WebForm: "Web form",
  ContactApi: "Contact API",
  VerificationApi: "Verification API",
  FileVerificationApi: "File verification API",
  PilotBillingPlan: "Pilot billing plan",
  PaidNewsletter: "Paid newsletter"
} satisfies Readonly<Record<ContactStatus | ConsentTracking | ContactSource, string>>

const values: ReadonlyMap<string, string> = new Map(Object.entries(valueTitles))

/** A status, or another such value, as people read it: `NotConfirmed` as "Not confirmed". One that the page does not know stays as it is. */
export const statusWords = (value: string): string => values.get(value) ?? value

/** The fields that have such values, in the spelling of rules. */
const worded: ReadonlySet<string> = new Set(["status", "source"])

/** A value of a field as people read it. */
export const valueWords = (field: string, value: string): string =>
  worded.has(field.toLowerCase()) ? statusWords(value) : value
