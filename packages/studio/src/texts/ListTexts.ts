/** The texts of the lists, and of the name of a list wherever one is written. */
import type { ReactNode } from "preact/compat"
import { type Marked, number, sentence } from "./Language.ts"
import { people } from "./SharedTexts.ts"

const theContacts = "the contacts"

const ofList = (name: string): string => `, the list ${name}`

export const listTexts = {
  reading: "Reading the lists…",
  none: "There are no lists yet",
  firstSteps: (contacts: Marked): ReactNode =>
    sentence`Make one here, or choose people among ${contacts(theContacts)} and put them on one.`,
  chooseAmong: (contacts: Marked): ReactNode =>
    sentence`To put people on a list, choose them among ${contacts(theContacts)}.`,
  chosenAmong: (chosen: number, contacts: Marked): ReactNode =>
    sentence`${people(chosen)} chosen among ${contacts(theContacts)}.`,
  all: "All lists",
  headings: { people: "People", made: "Made" },
  putChosen: (chosen: number, name: string, unseen: Marked): ReactNode =>
    sentence`Put ${number(chosen)} on it${unseen(ofList(name))}…`,
  takeChosen: (chosen: number, name: string, unseen: Marked): ReactNode =>
    sentence`Take ${number(chosen)} off it${unseen(ofList(name))}…`,
  export: (name: string, unseen: Marked): ReactNode => sentence`Export${unseen(` ${name}`)}…`,
  rename: (name: string, unseen: Marked): ReactNode => sentence`Rename${unseen(` ${name}`)}…`,

  // Making one

  new: "New list",
  makeIt: "Make it",
  isThere: "There is a list of this name.",
  isMade: (name: ReactNode): ReactNode => sentence`The list ${name} is made.`,

  // The name of one

  noSuch: "There is no such list.",
  near: (near: ReactNode): ReactNode => sentence`There is no such list, and there is ${near}.`,
  makeNew: "Make a new list",
  makesNew: "This makes a new list.",

  // Renaming one

  renameNamed: (name: string): string => `Rename the list ${name}`,
  newName: "Its new name",
  staysOn: "Everybody stays on it. A saved filter that names it has to be changed by hand.",
  renameIt: "Rename it",
  isRenamed: (from: ReactNode, to: ReactNode): ReactNode => sentence`The list ${from} is now ${to}.`
}
