/** The CSV that says without a mapping what a mapping says of a file, for a service that reads the file itself. */
import { Stream } from "effect"
import { addedFields } from "../contacts/ContactFields.ts"
import type { ContactPayload } from "../contacts/Contact.ts"
import { formatWireDate } from "../values/WireDate.ts"
import { protectCell, restoreCell } from "./ContactColumns.ts"
import { csvLine } from "./RejectedRows.ts"

/** A cell from which an import of ours reads this text, and others do wherever that is possible. */
const cellOf = (text: string): string => (restoreCell(text) === text ? text : protectCell(text))

/** A file of contacts in UTF-8, with the columns that an import knows and those custom fields. */
export const mappedFile = <E, R>(
  customFields: ReadonlyArray<string>,
  contacts: Stream.Stream<ContactPayload, E, R>
): Stream.Stream<Uint8Array, E, R> =>
  Stream.make(csvLine([...addedFields.map(({ wire }) => wire), ...customFields.map(cellOf)], ",")).pipe(
    Stream.concat(
      Stream.mapArray(contacts, (part) => [
        part
          .map((contact) => {
            const own = contact.customFields ?? {}
            const cells = addedFields.map(({ read }) => {
              const value = read(contact)
              if (value === null || value === undefined) return ""
              return cellOf(typeof value === "object" ? formatWireDate(value) : String(value))
            })
            const custom = customFields.map((name) => (Object.hasOwn(own, name) ? cellOf(own[name] ?? "") : ""))
            return csvLine([...cells, ...custom], ",")
          })
          .join("")
      ])
    ),
    Stream.encodeText
  )
