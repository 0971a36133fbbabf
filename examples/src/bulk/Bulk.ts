import { ContactFilter, ContactsService, readContacts, rule } from "@roster/domain"
import { exportTo, importContacts, planDelete } from "@roster/workflows"
import { Effect, Stream } from "effect"

/** Imports a CSV file. A wrong row is refused alone; of each address, the last row is sent. */
export const importCustomers = <E>(file: Stream.Stream<Uint8Array, E>) =>
  importContacts(readContacts(file, { columns: { Town: "city" } }), {
    listNames: ["customers"],
    onProgress: (done, sendable) => Effect.logDebug(`${done} of ${sendable}`)
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

/** Deletes the contacts that a rule selects now: those that match only later stay, and an undo brings them back. */
export const deleteBounced = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const plan = yield* planDelete(contacts.stream({ rule: yield* rule`status = Bounced` }))
  return yield* plan.apply
})
