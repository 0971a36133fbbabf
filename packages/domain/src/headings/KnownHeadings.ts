/** Which field of a contact a heading means that is not the name of one. It is proposed, and never taken for the field. */
import { addedFields } from "../contacts/ContactFields.ts"
import { editDistance } from "../values/DidYouMean.ts"

/** A heading as headings are compared: its letters and digits in lower case. */
const bareName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")

/** Names that other programs give to fields, in the form of `bareName`. */
const otherNames: ReadonlyArray<readonly [string, string]> = [
  ["mail", "Email"],
  ["emailaddress", "Email"],
  ["mailaddress", "Email"],
  ["givenname", "FirstName"],
  ["forename", "FirstName"],
  ["surname", "LastName"],
  ["familyname", "LastName"]
]
const fieldsByBareName = new Map([...addedFields.map(({ wire }) => [bareName(wire), wire] as const), ...otherNames])

/** The field that a heading names in other words: "E-mail Address", "First Name", "last_name". */
export const fieldOfHeading = (name: string): string | undefined => fieldsByBareName.get(bareName(name))

/** The shortest name of which another word is not soon one letter away. */
const longEnough = 5

/** The field whose name a heading misses by one letter: "Frstname", "Stauts". */
export const fieldNearHeading = (name: string): string | undefined => {
  const bare = bareName(name)
  return bare.length + 1 < longEnough || bare.length > 40
    ? undefined
    : addedFields.find(({ wire }) => wire.length >= longEnough && editDistance(bare, bareName(wire)) === 1)?.wire
}
