/** The texts of what finds contacts: an address that is looked up, and pasted addresses. */
import type { ReactNode } from "preact/compat"
import { counted, type Forms, number, sentence } from "./Language.ts"
import { nouns } from "./SharedTexts.ts"

const partsAre: Forms = { one: "part of the text is no address", other: "parts of the text are no address" }
const partsThatAre: Forms = {
  one: "part of the text that is no address",
  other: "parts of the text that are no address"
}
const addressesAre: Forms = { one: "address is in the text again", other: "addresses are in the text again" }

export const findTexts = {
  looking: (address: string): string => `Looking for ${address}…`,
  nobodyHas: (address: ReactNode): ReactNode => sentence`Nobody has the address ${address}.`,
  addThis: "Add this contact…",
  findContaining: "Find addresses that contain it",
  lookInFields: (words: ReactNode): ReactNode => sentence`Look for “${words}” in`,

  // Pasted addresses

  paste: "Paste addresses…",
  title: "Pasted addresses",
  addresses: "Addresses, as they are in a message, a document or a spreadsheet",
  lookUp: "Look them up",
  lookingUp: "Looking the addresses up…",
  tooMany: (count: number, most: number): string =>
    `The text has ${number(count)} addresses, and ${number(most)} are looked up at once. Paste them in parts, or import them as a file.`,
  found: (
    addresses: number,
    { known, others, repeated, unknown }: Readonly<Record<"known" | "unknown" | "repeated" | "others", number>>
  ): string =>
    `${counted(addresses, nouns.address)}: ${number(known)} known, ${number(unknown)} unknown` +
    `${repeated === 0 ? "" : `, ${number(repeated)} repeated`}${others === 0 ? "" : `; ${counted(others, partsAre)}`}.`,
  choose: (known: number): string => `Choose ${counted(known, nouns.contact)} and show them`,
  unknown: "Unknown",
  nobodyHasThem: (unknown: number): string => `${counted(unknown, nouns.address)} that nobody has`,
  add: (unknown: number): string => `Add ${counted(unknown, nouns.contact)}…`,
  copyThem: "Copy them",
  downloadThem: "Download them",
  repeated: "Repeated",
  areRepeated: (repeated: number): string => counted(repeated, addressesAre),
  copyOnce: "Copy the list without repeats",
  downloadOnce: "Download the list without repeats",
  noAddresses: "No addresses",
  areNone: (others: number): string => counted(others, partsThatAre),
  meant: (text: string, meant: string): string => `${text} → ${meant}`,
  take: (corrections: number): string => `Take ${counted(corrections, nouns.correction)}`
}
