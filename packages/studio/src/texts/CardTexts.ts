/** The texts of one contact: its form, its lists and its history. */
import type { ReactNode } from "preact/compat"
import { sentence } from "./Language.ts"

export const cardTexts = {
  getsNone: (status: string): string => `gets none while the status is ${status}`,
  notKnown: "not known",
  newField: "New field",
  value: "Value",
  addField: "Add a field",
  nearField: (near: ReactNode): ReactNode => sentence`No contact has this field, and there is ${near}.`,
  save: "Save",
  saving: "Saving…",
  saved: "Saved.",
  answer: (question: string): string => `${question}: save`,
  download: "Download the record",
  print: "Print",

  // What others changed too

  conflict: "Somebody else has changed the same fields meanwhile. Nothing is saved yet: say whose stays.",
  mine: (text: ReactNode): ReactNode => sentence`What I wrote: ${text}`,
  now: (text: ReactNode): ReactNode => sentence`What is there now: ${text}`,
  goOn: "Go on with these",

  // Its lists

  onNone: "On no list.",
  otherList: "Another list",
  takeOff: "Take off",
  takeOffNamed: (list: string): string => `Take off ${list}`,
  putOn: "Put on it",
  isOn: (list: ReactNode): ReactNode => sentence`On the list ${list}.`,
  isOff: (list: ReactNode): ReactNode => sentence`Off the list ${list}.`,

  // Its history

  reading: "Reading…",
  by: "By",
  change: "Change",
  showOlder: "Show older entries"
}
