/** The names that people read for the fields of a contact. Rules, files and the command line have the technical ones. */
import { ContactFields } from "@roster/domain/internal"
import { statusWords } from "./Mark.tsx"

const own: Readonly<Record<string, string>> = {
  Email: "E-mail",
  CustomFields: "Custom fields",
  ConsentTracking: "Consent to tracking",
  DateAdded: "Added",
  DateUpdated: "Changed",
  StatusChangeDate: "Status since",
  TotalSent: "E-mails sent",
  TotalOpened: "E-mails opened",
  TotalClicked: "E-mails clicked",
  TotalFailed: "E-mails failed",
  FriendlyErrorMessage: "Why the last one failed"
}

const known: ReadonlySet<string> = new Set([
  ...ContactFields.allFields.map(({ wire }) => wire),
  "CustomFields",
  "Lists"
])

/** `FirstName` as "First name". A custom field has the name that people gave it. */
export const fieldTitle = (name: string): string =>
  known.has(name)
    ? (own[name] ??
      name.replaceAll(/(?<=[a-z])[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`).replace(/IP$/, " IP"))
    : name

/** The fields whose values are names of the program, in the spelling of rules. */
const worded: ReadonlySet<string> = new Set(["status", "source"])

/** A value of a field as people read it: the source `ContactApi` as "Contact API". */
export const valueWords = (field: string, value: string): string =>
  worded.has(field.toLowerCase()) ? statusWords(value).replace(/ api$/, " API") : value
