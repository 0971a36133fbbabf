/** The texts of an import, by its steps. */
import { outcomeWords, recipientWords, type RunReport } from "@roster/workflows"
import type { ReactNode } from "preact/compat"
import { counted, type Forms, type Marked, number, sentence } from "./Language.ts"
import { nouns, people, sharedTexts } from "./SharedTexts.ts"

const rowsGive: Forms = { one: "row gives", other: "rows give" }
const rowsSay: Forms = { one: "row says", other: "rows say" }
const rowsHave: Forms = { one: "row has", other: "rows have" }
const rowsAre: Forms = { one: "row is", other: "rows are" }
const duplicate: Forms = { one: "duplicate", other: "duplicates" }
const thingsLook: Forms = { one: "thing looks", other: "things look" }

const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

const quoted = (name: string): string => JSON.stringify(name)

const leftOut = "Left out"

export const importTexts = {
  steps: "Steps",
  stepTitles: { file: "File", columns: sharedTexts.columns, check: "Check", plan: "Plan", done: "Done" },
  stepHeading: (at: number, title: string): string => `${number(at)}. ${title}`,
  results: {
    columns: (taken: number, of: number): string => `${number(taken)} of ${number(of)} taken`,
    check: (willNot: number): string => `${number(willNot)} without mail`,
    plan: (added: number, changed: number): string => `${number(added)} new, ${number(changed)} changed`,
    done: (written: number): string => `${number(written)} written`
  },
  back: "Back",
  goOn: "Continue",
  inLine: (line: number, what: string): string => `line ${number(line)}: ${what}`,
  cellInLine: (line: number, cell: ReactNode): ReactNode => sentence`line ${number(line)}: ${cell}`,

  // What a reload of the page broke off

  left: (rows: number): string =>
    `This page was left before an import of ${counted(rows, nouns.row)} came to its end. Some of them are stored, and it is not known which.`,
  chooseAgain: "Choose the same file and plan it again: the plan shows what is left.",
  isItsFile: "This is its file: what was stored already is under “Already so”, and applying the plan does the rest.",
  isOtherFile: "This is another file, or the same one read in another way.",

  cannotUndo: "This page no longer knows what it changed, so it cannot undo that part.",
  forget: "Do not say this again",
  threadEnded:
    "The browser ended the work on the file, perhaps for want of memory. Nothing was sent. Choose the file again.",

  // The file

  drop: "Drop a file of contacts here, or choose one",
  dropOther: "Another file, dropped here or chosen",
  kindsOfFiles:
    "A spreadsheet (.xlsx), CSV of any kind, or JSON; also as .gz or .zip. Nothing is stored before you say so.",
  fileSize: (name: ReactNode, kibibytes: number): ReactNode => sentence`${name}, ${number(kibibytes)} KiB`,
  reading: "Reading the file…",
  read: (rows: number, columns: number): string => `${counted(rows, nouns.row)}, ${counted(columns, nouns.column)}.`,
  malformed: (rows: number): string => `${number(rows)} of the rows cannot be split into cells, and will be rejected.`,
  sheet: "Sheet, by its name or number",
  encoding: "Encoding",
  saysItself: "as the file says itself",
  betweenCells: "Between two cells",
  delimiters: { comma: "comma ,", semicolon: "semicolon ;", tab: "tab", bar: "bar |" },
  linesAbove: "Lines above the header",
  firstLine: "First line",
  hasHeadings: "has the headings",
  isContact: "is a contact: there is no heading line",
  firstRows: "The first rows of the file",
  readAsProposed: "Read it as it was proposed",

  // The columns

  columns: "The columns",
  columnHeadings: {
    column: "Column",
    becomes: "Becomes",
    filled: "Filled cells",
    values: "Most frequent values"
  },
  becomes: (column: string): string => `What ${column} becomes`,
  chooseUnheard: "Choose: it says who wants mail",
  leftOut,
  ownFields: "Field of the contact",
  knownFields: "Custom field that contacts have",
  customField: "Custom field",
  otherCustomField: "Another custom field",
  customFieldFor: (column: string): string => `Custom field for ${column}`,
  known: "known",
  new: "new",

  isNewField: "It is a new field",
  kindOf: (column: string): string => `What the texts of ${column} are`,
  looksLike: "They look like",
  asTexts: "Texts as they stand",
  readAs: "Read them as",
  ofRead: (filled: number, read: number, small: Marked): ReactNode =>
    sentence`${number(filled)} ${small(`of ${number(read)}`)}`,
  ofFirst: (values: number): string => `of the first ${number(values)} values`,
  saveChoices: "Save these choices",
  useChoices: "Use saved choices",
  choicesUsed: "The saved choices are used.",
  mappingFile: "the file",
  noMapping: (issue: string): string => `This is no saved mapping: ${issue}. Nothing was changed.`,
  lacking: (columns: ReactNode): ReactNode => sentence`The saved choices name columns that this file lacks: ${columns}`,
  proposeAgain: "Propose all columns again",
  kinds: {
    yesOrNo: "Yes or no",
    isoDates: "Dates as 2024-01-31",
    dates: (form: string): string => `Dates as ${form}`,
    numbers: (form: string): string => `Numbers as ${form}`
  },
  /** What to choose of the kinds that texts look like. */
  kindAdvice: ([one = "", ...others]: ReadonlyArray<string>): string =>
    others.length === 0
      ? `They look like ${lowerFirst(one)}: as texts, no rule compares them.`
      : `They may be ${[one, ...others].map(lowerFirst).join(" or ")}, and only you can tell: choose one. As texts, no rule compares them.`,
  unheard: (column: string): string =>
    `The column ${quoted(column)} says who wants mail. Choose what becomes of it: Status, so that who said no gets none, or ` +
    "a custom field, which stops no mail.",
  nearField: (field: string, near: string): string =>
    `No contact has a field ${quoted(field)}, and there is ${quoted(near)}: say which is meant.`,
  unnamed: (column: string): string => `Name the field for the column ${quoted(column)}, or leave the column out.`,
  twoColumns: (field: string): string => `Two columns become ${quoted(field)}. Leave one of them out.`,
  onlyService: (field: string, column: string): string =>
    `Only the service sets ${quoted(field)}. Choose another name for the column ${quoted(column)}.`,
  noAddresses: "Choose the column with the e-mail addresses: no column becomes it yet.",

  // What all rows get

  chooseValue: "Choose",
  giveAll: "Give all rows the same",
  giveAllChoice: "Give all rows the same…",
  nameOfField: "Name of the custom field",
  takeField: "Take it",
  allRowsGet: (field: ReactNode): ReactNode => sentence`All rows: ${field}`,
  takeAway: "Take it away",
  takeFieldAway: (field: string): string => `Take ${field} away`,
  writeValue: (field: string): string => `Write what all rows get as ${field}, or take it away.`,
  columnBecomes: (field: string): string =>
    `A column becomes ${field} already, so all rows cannot get the same. Leave the column out, or take the value away.`,
  noValue: (value: string, field: string): string => `“${value}” is no value for ${field}.`,

  // The words, and who receives mail

  mail: "Who receives mail",
  wordsOf: (of: string): string => `The words of ${of}`,
  wordIn: (column: ReactNode): ReactNode => sentence`Word in ${column}`,
  rows: "Rows",
  standsFor: (field: string): string => `Stands for the ${field.toLowerCase()}`,
  everyOther: "every other text",
  whatStandsFor: (word: string): string => `What ${word} stands for`,
  notKnown: "not known: its rows are rejected",
  asEmpty: "nothing: as if the cell were empty",
  otherWords: (words: number): string => `Rows with other words than these ${number(words)} are rejected.`,
  mailSum: (willReceive: number, willNot: number): string =>
    `${counted(willReceive, rowsGive)} a status with mail, ${counted(willNot, rowsGive)} one without. The plan says who will receive mail.`,
  unsaid: (rows: number, isMailed: boolean): string =>
    isMailed
      ? `${counted(rows, rowsSay)} nothing: a new contact will receive mail, and a stored one keeps the status.`
      : `${counted(rows, rowsSay)} nothing: a new contact will receive no mail, and a stored one keeps the status.`,
  unclear: (rows: number): string => `${counted(rows, rowsHave)} a word that stands for nothing, and will be rejected.`,
  severalStatuses: "Several columns become the status: of what they say in a row, the strictest counts.",
  noStatus: (isMailed: boolean): string =>
    isMailed
      ? "No column becomes the status: every new contact will receive mail, and stored ones keep their status."
      : "No column becomes the status: every new contact will receive no mail, and stored ones keep their status.",

  // All rows

  allRows: "All rows",
  ontoLists: "Put them on lists, one a line",
  resubscribe: "Subscribe people again who have left, complained or cannot be reached, where the file says so",
  rowOptions: "Which rows are taken, and how their cells are read",
  takenFor: "Rows are taken for",
  only: { all: "new and existing contacts", new: "new contacts alone", existing: "existing contacts alone" },
  defaultStatus: "Status of new contacts whose rows give none",
  sameAddress: "Of rows with the same address",
  onDuplicate: {
    last: "the last values are imported",
    first: "the first values are imported",
    reject: "none is imported"
  },
  emptyCell: "An empty cell",
  keepsField: "leaves its field as it is",
  clearsField: "clears a name or custom field",
  dateForm: "Form of the dates, in UTC",
  dateFormHint: "as ISO 8601; or DD.MM.YYYY",
  dateFormProblem:
    "A form of dates has YYYY, MM and DD, and may have HH, mm and ss, such as DD.MM.YYYY or MM/DD/YYYY HH:mm.",
  withoutBlanks: "Without the blanks around the texts of cells",
  failsOnWarning: "Import nothing if something looks odd in the rows",
  plan: "Plan",
  planAgain: "Plan again",

  // The plan

  compared: (rows: number, total: number): string =>
    `${number(rows)} of ${counted(total, nouns.row)} compared with what is stored`,
  rowsRead: (rows: number): string => `${counted(rows, nouns.row)} read`,
  readingNow: "Reading the file",
  planHeadings: { line: "Line", address: "Address", changes: "What changes" },
  stays: (status: string): string => `Stays ${status}.`,
  probably: (address: ReactNode): ReactNode => sentence`Probably meant: ${address}`,
  onlyForm: "only its form",
  rowsOfPlan: "Rows of the plan",
  odd: (things: number): string => `${counted(things, thingsLook)} odd in the rows, and will be imported as they are`,
  theFile: "The file",
  rowCount: (rows: number): string => counted(rows, nouns.row),
  addressCount: (addresses: number): string => counted(addresses, nouns.address),
  ofColumn: (column: string, of: string): string => (of === "" ? `Column ${column}` : `Column ${column} (${of})`),
  warning: (of: string, warning: string): string => `${of}: ${warning}`,
  advice: {
    Blanks: "Cells can be taken without the blanks around their texts under 3.",
    Decoding: "The file may be of another encoding, which can be chosen under 1.",
    Nothing: "Correct the file where nothing is meant.",
    Escaped: "Export the file again without, or correct it.",
    Kind: "What the texts of the column are can be chosen under 2.",
    Consent: "What becomes of the column can be chosen under 2.",
    Active: "Another status can be chosen under 3, for new contacts."
  },
  headingAdvice: (field: string): string => `If the column means ${field}, choose that under 2.`,
  /** How many rows there are of each kind. */
  counts: (
    read: number,
    {
      alreadySo,
      changed,
      duplicates,
      leftOut,
      new: added,
      rejected
    }: Readonly<Record<"alreadySo" | "changed" | "duplicates" | "leftOut" | "new" | "rejected", number>>
  ): string =>
    `${counted(read, nouns.row)}: ${number(added)} new, ${number(changed)} changed, ${number(alreadySo)} already so, ` +
    `${number(rejected)} rejected, ${counted(duplicates, duplicate)}${leftOut === 0 ? "" : `, ${number(leftOut)} left out`}.`,
  nothingStored: "Nothing is stored yet.",
  rowsToShow: "Rows to show",
  kindTitles: {
    new: "New",
    changed: "Changed",
    alreadySo: "Already so",
    rejected: "Rejected",
    duplicates: "Duplicates",
    kept: "Kept because of consent",
    leftOut
  },
  /** What a kind of rows means. */
  meanings: {
    new: "Contacts that are not stored yet.",
    changed: "Contacts that are stored with other values: old beside new.",
    alreadySo: "Contacts that are stored just so.",
    rejected: "Rows that cannot be imported, and why. The others are imported without them.",
    duplicatesOfFirst:
      "Rows that are merged into a later one with their address: of each field the first value is taken, of the statuses the strictest.",
    duplicates:
      "Rows that are merged into a later one with their address: of each field the last value is taken, of the statuses the strictest.",
    kept: "People who left, complained or cannot be reached, and whom these rows would subscribe again, or who confirmed before. They keep their status.",
    leftOut: "Rows for contacts that this import does not write to, as it was said under 3."
  },
  downloadRejected: "Download the rejected rows, to correct and import them",
  downloadRepeated: "Download the repeated rows, with the lines of both",
  downloadPlan: "Download the plan",
  changesNothing: "The plan changes nothing.",
  correctedSince: "Rows were corrected since this plan. Plan again, so that it takes them in.",
  isOdd: "Something looks odd in the rows, as the plan says, and then nothing is to be imported.",
  planHasCorrections: "The plan as a file has the corrected rows, and a command applies it:",
  /** What applying a plan does. */
  deed: ({ added, changed, onLists }: Readonly<Record<"added" | "changed" | "onLists", number>>): string =>
    [
      ...(added === 0 ? [] : [`add ${people(added)}`]),
      ...(changed === 0 ? [] : [`change ${people(changed)}`]),
      ...(onLists === 0 ? [] : [`put ${people(onLists)} on the lists`])
    ]
      .join(" and ")
      .replace(/^./, (first) => first.toUpperCase()),

  // Rejected rows

  cause: (rows: number, column: ReactNode, cause: ReactNode): ReactNode =>
    column === undefined
      ? sentence`${counted(rows, nouns.row)}: ${cause}`
      : sentence`${counted(rows, nouns.row)} in ${column}: ${cause}`,
  chooseWords: "(choose under 3 what the words stand for)",
  andOthers: "and others",
  firstIn: (line: number): string => `first in line ${number(line)}`,
  showThese: "show these alone",
  oneCause: (cause: ReactNode): ReactNode => sentence`Shown are the rows of one cause: ${cause}.`,
  slips: (rows: number): string => `${counted(rows, rowsHave)} a slip of the hand that can be put right:`,
  correctAll: (rows: number): string => (rows === 1 ? "Correct it" : `Correct all ${number(rows)}`),
  beforeAndAfter: "Before and after",
  proposed: "Corrections that are proposed",
  lineOf: (line: number): string => `Line ${line}`,
  behindLast: "Behind the last column",
  before: (cell: ReactNode): ReactNode => sentence`before: ${cell}`,
  takeOut: "Take it out",
  canBeImported: (address: ReactNode): ReactNode => sentence`It can be imported, as the contact ${address}.`,
  keepCorrection: "Keep the correction",
  leaveAsItWas: "Leave it as it was",
  correct: "Correct…",
  correctAgain: "Correct again…",
  corrected: "Corrected.",
  takeBack: "Take it back",
  areCorrected: (rows: number): string =>
    `${counted(rows, rowsAre)} corrected, and part of this plan. Each counts at its place in the file: which of the rows with the same address is imported stays as it was said.`,
  areNotPlanned: (rows: number): string =>
    `${counted(rows, rowsAre)} corrected. Plan again, so that the plan takes that in.`,
  correctedRows: "Corrected rows",
  takeBackLine: (line: number): string => `Take back the correction of line ${line}`,
  takeItBack: "take it back",

  // The application

  applied: (done: number, total: number): string => `${number(done)} of ${counted(total, nouns.row)}`,
  waiting: "Waiting for the answers to what was sent…",
  isPaused: "Paused: nothing more is sent until you go on.",
  keepOpen: "Keep this page open until all rows are done.",
  goOnApplying: "Go on",
  pause: "Pause",
  cancel: "Cancel",
  outcome: (report: RunReport, isWhole: boolean): string =>
    [
      `The import ${isWhole ? "came to its end" : "stopped"}: ${outcomeWords(report)}`,
      ...recipientWords(report, true)
    ].join(" "),
  did: "What the import did",
  leftAlone: "Contacts that were left alone",
  refused: "Rows that the service refused",
  sendsAgain: "Going on sends these rows again, which does nothing twice.",
  undo: "Undo the import",
  importOther: "Import another file",
  undoUnder: <History extends ReactNode>(history: History) => sentence`What it stored can be undone under ${history}.`
}
