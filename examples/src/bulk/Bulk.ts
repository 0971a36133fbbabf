import { ContactFilter, ContactsService, readContacts, rule } from "@roster/domain"
import { deleteContacts, exportTo, uploadContacts } from "@roster/workflows"
import { Effect, Stream } from "effect"

/** Imports a CSV file of any size. A wrong row is refused alone; of each address, the last row is sent. */
export const importCustomers = <E>(file: Stream.Stream<Uint8Array, E>) =>
  uploadContacts(readContacts(file, { columns: { Town: "city" } }), {
    listNames: ["customers"],
    onProgress: ({ accepted, sendable }) => Effect.logDebug(`${accepted} of ${sendable ?? "?"}`)
  })

/** Exports the contacts of a city, and gives the file to a function that reads it as a stream. */
export const exportCity = Effect.fnUntraced(function* (city: string) {
  const filter = ContactFilter.ByRule({ rule: yield* rule`city = ${city}` })
  let text = ""
  yield* exportTo({ filter, fileFormat: "Csv" }, (bytes) =>
    Stream.runForEach(Stream.decodeText(bytes), (part) =>
      Effect.sync(() => {
        text += part
      })
    )
  )
  return text
})

/** Deletes the contacts that a rule selects now, by their addresses: contacts that match only later stay. */
export const deleteBounced = Effect.gen(function* () {
  const contacts = yield* ContactsService
  return yield* deleteContacts(contacts.stream({ rule: yield* rule`status = Bounced` }))
})
