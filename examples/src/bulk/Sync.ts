import { addAll, type ContactDraft, importContacts } from "@roster/workflows"
import { Console, Stream } from "effect"

interface Customer {
  readonly id: number
  readonly mail: string
  readonly name: string | undefined
}

/** With this return type the compiler finds a misspelt field; without it, the contact is refused. */
const toContact = ({ mail, name }: Customer): ContactDraft => ({ email: mail, firstName: name })

/** Adds customers, and prints the outcome of each that was not accepted. */
export const sync = (customers: Stream.Stream<Customer>) =>
  addAll(customers, {
    toContact,
    listNames: ["customers"],
    onProgress: ({ done, rejected }) => Console.log(`${done} done, ${rejected} rejected`)
  }).pipe(
    Stream.filter((outcome) => outcome._tag !== "Accepted"),
    // All that is not sent has the same error, which is printed once.
    Stream.changesWith((one, other) => one._tag === "NotSent" && other._tag === "NotSent"),
    Stream.runForEach(({ error, item }) => Console.log(`customer ${item.id}: ${error.message}`))
  )

/** Imports the same contacts, as a run that can be undone. */
export const imported = (customers: Stream.Stream<Customer>) =>
  importContacts(Stream.map(customers, toContact), {
    onProgress: (done, sendable) => Console.log(`${done} of ${sendable}`)
  })
