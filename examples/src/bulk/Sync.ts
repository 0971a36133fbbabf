import { addAll, type ContactDraft, importContacts } from "@roster/workflows"
import { Console, Stream } from "effect"

interface Customer {
  readonly id: number
  readonly mail: string
  readonly name: string | undefined
}

/** With this return type the compiler finds a misspelt field; without it, the contact is refused. */
const toContact = ({ mail, name }: Customer): ContactDraft => ({ email: mail, firstName: name })

/** Adds customers, and prints the outcome of each that was sent and not accepted. Fails if the service stopped it. */
export const sync = (customers: Stream.Stream<Customer>) =>
  addAll(customers, {
    toContact,
    listNames: ["customers"],
    onProgress: ({ done, rejected }) => Console.log(`${done} done, ${rejected} rejected`)
  }).pipe(
    Stream.filter((outcome) => outcome._tag === "Refused" || outcome._tag === "Unknown"),
    Stream.runForEach(({ error, item }) => Console.log(`customer ${item.id}: ${error.message}`))
  )

/** Imports the same contacts, as a run that can be undone. */
export const imported = (customers: Stream.Stream<Customer>) =>
  importContacts(Stream.map(customers, toContact), {
    onProgress: (done, sendable) => Console.log(`${done} of ${sendable}`)
  })
