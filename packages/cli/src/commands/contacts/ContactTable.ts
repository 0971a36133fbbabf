/** Prints contacts. A table or CSV has the columns that are asked for, or the usual ones; CSV has all custom fields too. */
import { Contact, Rule } from "@roster/domain"
import { ContactColumns } from "@roster/domain/internal"
import { readExportedContacts } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { refuse } from "../../errors/UsageError.ts"
import { temporaryPath, temporaryProblem, temporarySink } from "../../files/TemporaryFile.ts"
import { parsed } from "../../settings/FlagForms.ts"
import { readBytes } from "../../settings/InputFile.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"
import { fieldsOf } from "../../terminal/Table.ts"

const usual = ["Email", "Status", "FirstName", "LastName", "DateAdded"]

const recordColumns = new Map(ContactColumns.exportHeader([]).map((name) => [name.toLowerCase(), name]))

/** The columns of a table, with the names that an export has. */
export const columns = parsed(
  "columns",
  (given) => {
    const names = given.split(",").map((name) => name.trim())
    return names.every((name) => name !== "")
      ? Effect.succeed(names.map((name) => recordColumns.get(name.toLowerCase()) ?? name))
      : refuse("columns", "write the names of fields with commas between them, such as Email,Status,city")
  },
  `Fields to show in a table or CSV (default: ${usual.join(",")}; in CSV, custom fields too)`,
  "NAME,..."
)

/** The fields of a contact by the names that an export has, or that the columns give to custom fields. */
const fieldsIn = (columns: ReadonlyArray<string>) => {
  const byName = new Map(columns.map((name) => [Rule.foldText(name), name]))
  return (record: unknown) =>
    fieldsOf(record).map(([path, text]) => {
      const name = path.replace(/^(?:CustomFields|Consent|Activity)\./, "")
      return [byName.get(Rule.foldText(name)) ?? name, text] as const
    })
}

/** Keeps contacts in a private temporary file, to read the names of all custom fields before the first is printed. */
const spooled = Effect.fnUntraced(function* <E, R>(contacts: Stream.Stream<Contact, E, R>) {
  const file = yield* temporaryPath("contacts")
  const names = new Map<string, string>()
  const noted = Stream.map(contacts, (contact) => {
    for (const name of Object.keys(contact.customFields ?? {})) {
      if (!names.has(Rule.foldText(name))) names.set(Rule.foldText(name), name)
    }
    return contact
  })
  yield* Stream.run(Results.jsonLines(Contact, noted, "json"), temporarySink(file))
  return { names: [...names.values()].toSorted(), contacts: readExportedContacts(yield* readBytes(file)) }
}, temporaryProblem("the contacts"))

/** Prints contacts with these columns. `onPrint` learns how many are about to be printed. */
export const printContacts = Effect.fnUntraced(function* <E, R>(
  contacts: Stream.Stream<Contact, E, R>,
  chosenColumns: ReadonlyArray<string> | undefined,
  onPrint: (count: number) => void
) {
  const { format } = yield* Output
  const print = <E2, R2>(columns: ReadonlyArray<string>, contacts: Stream.Stream<Contact, E2, R2>) =>
    Results.records(Contact, columns, contacts, {
      fieldsIn: fieldsIn(columns),
      areAsked: chosenColumns !== undefined
    })
  if (format === "csv" && chosenColumns === undefined) {
    const all = yield* spooled(contacts)
    return yield* print([...usual, ...all.names], all.contacts)
  }
  const noted = Stream.mapArray(contacts, (part) => {
    onPrint(part.length)
    return part
  })
  yield* print(chosenColumns ?? usual, noted)
}, Effect.scoped)
