/** The texts of what a person does to contacts: said, seen as a plan, and done. */
import { number } from "./Language.ts"
import { fieldTitles, people, sharedTexts } from "./SharedTexts.ts"

export const planTexts = {
  lost: "The browser cannot read the plan any more. Nothing was changed by this; make the plan again.",
  isStored: (email: string): string => `A contact ${email} is stored already. Open it to change it.`,
  writing: "Writing…",

  // A new contact

  add: "Add a contact",
  addIt: "Add the contact",

  // A list that goes

  deleteList: (name: string): string => `Delete the list ${name}`,
  deleteIt: "Delete the list",
  untold:
    "Those who are on it stay, and are on it no more. This service does not tell who they are, so nobody can undo this.",
  nobodyOn: "Nobody is on it.",
  theyStay: (contacts: number): string =>
    `${people(contacts)} on it: they stay, with everything else that is known of them, and are on this list no more. It can be undone.`,

  // What contacts get

  title: (what: string, whom: string): string => `${what}: ${whom}`,
  titles: {
    status: fieldTitles.Status,
    list: sharedTexts.views.lists,
    custom: sharedTexts.field,
    firstName: sharedTexts.field,
    lastName: sharedTexts.field
  },
  verbs: { AddMany: "Add", Delete: "Delete" },
  newStatus: "New status",
  chooseOne: "Choose one",
  putOnList: "Put them on a list",
  takeOffList: "Take them off a list",
  newField: "A new field…",
  nameOfField: "Name of the new field",
  newValue: "New value",
  emptyRemoves: "(empty: the field is removed)",
  show: "Show what changes",
  soFar: (read: number): string => `${number(read)} so far.`,
  otherIsWritten: "Another change is being written. Wait until it is done.",

  // What would be done

  deeds: {
    add: (count: number): string => `Add ${people(count)}`,
    delete: (count: number): string => `Delete ${people(count)}`,
    change: (count: number): string => `Change ${people(count)}`,
    putOn: (count: number, list: string): string => `Put ${people(count)} on the list ${list}`,
    takeOff: (count: number, list: string): string => `Take ${people(count)} off the list ${list}`
  },
  would: {
    add: (count: number): string => `This would add ${people(count)}`,
    delete: (count: number): string => `This would delete ${people(count)}`,
    change: (count: number): string => `This would change ${people(count)}`,
    putOn: (count: number, list: string): string => `This would put ${people(count)} on the list ${list}`,
    takeOff: (count: number, list: string): string => `This would take ${people(count)} off the list ${list}`
  },
  wouldNothing: "Nothing would change",
  /** What would be done, with how many contacts have each status, if that is told. */
  withStatuses: (would: string, statuses: ReadonlyArray<readonly [status: string, contacts: number]>): string =>
    statuses.length === 0
      ? `${would}.`
      : `${would}: ${statuses.map(([status, contacts]) => `${number(contacts)} ${status}`).join(", ")}.`,
  withoutStatus: "without a status",
  alreadySo: (contacts: number): string => `Already so: ${people(contacts)}.`,
  statusStays: (contacts: number): string =>
    `${people(contacts)} left, complained, cannot be reached or confirmed: their status stays.`,
  resubscribe: "Also those who left or cannot be reached: they asked for mail again",
  deleted:
    "They leave every list and get no mail any more. The history keeps what is deleted for 30 days, so that it can be undone; nothing here removes it earlier.",
  nothing: "nothing",

  // What was done

  putAway: "Put away",
  goOn: "Go on where it stopped",
  writtenSoFar: (contacts: number): string => `${people(contacts)} so far`,
  added: (email: string): string => `Contact ${email}`,
  listDeleted: (name: string): string => `The list ${name} is deleted`,
  manyAdded: "Contacts added",
  deletion: "Deletion",
  isOff: (list: string): string => `Off the list ${list}`,
  status: (status: string): string => `Status ${status}`,
  fieldSet: (field: string, value: string): string => `${field}: ${value}`,
  fieldRemoved: (field: string): string => `${field}: removed`,
  nobodyWasOn: "Nobody was on it.",
  stayed: (contacts: number): string => `${people(contacts)} on it: they stay.`
}
