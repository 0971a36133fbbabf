/** The texts of the history: what was done, how it ended, and what an undo would do. */
import { deeds, type RunHeader, strippedWords, unwritable } from "@roster/workflows"
import type { ReactNode } from "preact/compat"
import { counted, type Forms, type Marked, number, plural, sentence } from "./Language.ts"
import { people, sharedTexts, shortened } from "./SharedTexts.ts"

const areAlready: Forms = { one: "is as before already", other: "are as before already" }

/** What each command does. */
const deedTexts = {
  import: sharedTexts.views.import,
  apply: "Import by a plan",
  update: "Change of contacts",
  add: "Addition of contacts",
  delete: "Deletion of contacts",
  convert: "Conversion of custom fields",
  "lists add": "Addition to a list",
  "lists remove": "Removal from a list",
  "lists delete": "Deletion of a list",
  restore: "Restoration of a backup",
  undo: sharedTexts.undo,
  rotate: "New secret of a key"
}

const deedWords: ReadonlyMap<string, string> = new Map(Object.entries(deedTexts))

/** What was done, and of what: a file, or a rule. */
export const whatOf = ({
  about,
  command
}: {
  readonly command: RunHeader["command"]
  readonly about?: RunHeader["about"] | undefined
}): string => {
  const deed = deedWords.get(command) ?? command
  return about === undefined ? deed : `${deed}: ${shortened(about)}`
}

const fields: Forms = { one: "field more", other: "fields more" }
const wouldBeChangedBack = "would be changed back"
const wouldBeAddedAgain = "would be added again"

export const runTexts = {
  reading: "Reading the history…",
  nothing: "Nothing was changed yet",
  nothingYet: "What is imported, edited or deleted stands here from then on, and can be undone.",
  headings: {
    added: "Added",
    changed: "Changed",
    deleted: "Deleted",
    who: "Who",
    where: "Where",
    undo: sharedTexts.undo
  },
  here: "here",
  undo: (what: string, unseen: Marked): ReactNode => sentence`Undo${unseen(` ${what}`)}…`,

  // How a run ended

  undoneOn: (time: string): string => `undone on ${time}`,
  finished: "finished",
  goingOn: "going on",
  interrupted: "interrupted",
  undoInterrupted: "interrupted: undo the same again to go on",

  // One run

  back: "Back to the history",
  heading: (what: ReactNode, when: ReactNode, state: ReactNode): ReactNode => sentence`${what}, ${when} ${state}`,
  did: ({
    changed,
    created,
    deleted
  }: {
    readonly created: number
    readonly changed: number
    readonly deleted: number
  }): string => `${number(created)} added, ${number(changed)} changed, ${number(deleted)} deleted.`,
  importAgain: "Importing the same file again goes on where it stopped.",
  readingRun: "Reading the run…",
  noContacts: "The record of this run names no contacts.",
  changes: "What the run changed",
  effects: { Created: "added", Changed: "changed", Deleted: "deleted" },
  leftAlone: "left alone: others changed the contact meanwhile",
  columns: {
    contact: "Contact",
    theUndo: "The undo",
    theRun: "The run",
    before: "Before",
    byRun: "By the run",
    now: "Now"
  },
  noFields: "Its fields were not recorded one by one.",
  moreFields: (rest: number): string => ` and ${counted(rest, fields)}`,
  stays: "stays",
  list: (name: string): string => `list ${name}`,

  // Its undo

  preview: "Preview the undo…",
  leave: "Leave it",
  comparing: (done: number): string => `Comparing with the contacts as they are now: ${number(done)} so far…`,
  undoOf: (total: number): string => `Undo: change ${people(total)}`,
  elsewhere: (target: string): string => `This run is of ${target}. Sign in there to undo it.`,
  onlySince: "Only those that others changed or deleted since",
  wouldDo: "What the undo would do",
  firstOf: (shown: number, total: number): string =>
    `Shown are the first ${number(shown)} of ${number(total)} contacts.`,
  would: ({
    added,
    changedBack,
    deleted,
    stripped
  }: {
    readonly deleted: number
    readonly changedBack: number
    readonly added: number
    readonly stripped: number
  }): string => {
    const does = deeds([
      [deleted, "that the run added would be deleted"],
      [changedBack, wouldBeChangedBack],
      [added, wouldBeAddedAgain],
      [stripped, strippedWords("would lose")]
    ])
    return does === "" ? "The undo would change nothing." : `${does}.`
  },
  areAlready: (count: number): string => `${people(count)} ${plural(count, areAlready)}.`,
  changedSince: (count: number): string => `${people(count)} changed since: what others wrote would stay.`,
  deletedSince: (count: number): string => `${people(count)} deleted since: they would stay deleted.`,
  wouldStay: (count: number): string => `${people(count)} would stay: ${unwritable}.`,
  incomplete: (count: number): string => `Of ${people(count)} this service could not bring back everything.`,
  unrecorded: (what: string): string => `Not recorded, and would be left as it is: ${what}`,
  since: { Changed: "changed since", Deleted: "deleted since" },
  steps: {
    Keep: (since: string): string => `${since}: stays`,
    ChangeBack: (since: string): string =>
      since === "" ? wouldBeChangedBack : `${since}: the rest would be changed back`,
    Strip: (since: string): string => `added by the run, ${since}: what only the run gave would go`,
    Delete: (): string => "would be deleted",
    AddAgain: (): string => wouldBeAddedAgain,
    AsBefore: (): string => "as before already",
    Unwritable: (): string => `stays: ${unwritable}`,
    LeftOut: (): string => "left out"
  }
}
