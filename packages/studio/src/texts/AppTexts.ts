/** The texts around the views: who is signed in, what the key may do, and what stands in every view. */
import type { ReactNode } from "preact/compat"
import { listed, number, sentence } from "./Language.ts"
import { people } from "./SharedTexts.ts"

export const appTexts = {
  name: "Roster",
  views: "Views",
  needs: (level: string): string => `needs ${level}`,
  signOut: "Sign out",
  unsaved: "Something is not saved, or still being written. It would be lost, or stop where it is.",
  staySignedIn: "Stay signed in",
  signOutAnyway: "Sign out all the same",
  away: "The service cannot be reached. The page looks for it every two seconds, and then goes on by itself.",

  // The address of the page

  noView: "The address names no view of this page, so it shows the contacts.",
  mistaken: "The filter in the address has a mistake, so all contacts are shown; put it right in the box.",
  notKnown: (parts: ReadonlyArray<string>): string =>
    `The address says something that this page does not know, which is left out: ${parts.map((part) => `“${part}”`).join(", ")}.`,

  // Colours

  lightOrDark: "Light or dark",
  lightOrDarkColours: "Light or dark colours",

  // Signing in

  inClear:
    "This page came over plain http, so it asks for no key, which others on the way could read: open its address with " +
    "https, or on its own machine as localhost.",
  ofStudio:
    "Open the address that roster studio printed. If it has ended, start it again: each start has an address of its own.",
  noKey: "The key is empty. Paste the API key that you were given.",
  key: "API key",
  keep: "Keep it in this tab, so that a reload does not ask again",
  signIn: "Sign in",
  whatFor: "This service keeps contacts and access credentials. Sign in with an API key to see and change them.",
  links: {
    docs: "The interface, to read and to try",
    openapi: "Its OpenAPI document",
    ready: "Whether the service is ready"
  },
  keyRefused: "The service does not take the key any more",
  otherKey: "It has ended or was deleted. With another key you go on where you are, and what you edit stays.",

  // What the key may do

  /** What each level is for. */
  deeds: {
    ViewContacts: "see contacts",
    ModifyContacts: "change contacts",
    Export: "export contacts",
    Security: "see keys",
    ModifyAccessTokens: "make, change or delete keys"
  },
  lacks: (level: string, deed: string): string => `This key lacks the level ${level}, so it may not ${deed}.`,
  /** Of a key that changes contacts and does not see them. */
  unseen:
    "This key changes contacts without seeing them, as a program does that takes in forms. This page shows each change " +
    "before it is made, so it needs a key that may see contacts too.",
  ownStore: "Local store, with full access",
  rights: (may: ReadonlyArray<string>, mayNot: ReadonlyArray<string>): string => {
    const parts = [
      ...(may.length === 0 ? [] : [`may ${listed(may, "conjunction")}`]),
      ...(mayNot.length === 0 ? [] : [`may not ${listed(mayNot, "disjunction")}`])
    ]
    return parts.length === 0 ? "" : `This key ${parts.join(", and ")}`
  },

  // What stands in several views

  inTerminal: "Same in the terminal",
  typeProfile: (name: ReactNode): ReactNode => sentence`The profile is protected. Type its name, ${name}, to confirm`,
  typeCount: (count: number): string => `Type the number of contacts, ${count}, to confirm`,
  notSaved: "What you have edited is not saved.",
  goOnEditing: "Go on editing",
  closeWithout: "Close without saving",
  undoing: (done: number, total: number): string => `Undoing: ${number(done)} of ${people(total)}`,
  undoStopped: "The undo was stopped. What it did stays done.",
  undoRest: "Undo the rest"
}
