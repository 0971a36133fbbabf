/**
 * Deleting the contacts of a backup, by their addresses: those that came to match a rule after it was looked at survive, and
 * what is deleted is in a file. Doing it again does no harm, so that whatever stopped it, the same call goes on.
 */
import { Effect, Stream } from "effect"
import { type Contact, ContactFilter, ContactsService, fnRedacted, type ServiceError } from "@roster/domain"

/** How many addresses travel in one request. */
const addressesPerDelete = 1000

export interface DeletionReport {
  /** Addresses of which the service said that they are deleted, whether somebody had them or not. */
  readonly deleted: number
  /** Addresses of which it is not known, or which were not sent. */
  readonly left: number
  /** Why the deleting stopped, where it did. */
  readonly stoppedBy: ServiceError | undefined
}

/** Deletes contacts, a thousand at a time. A failure of the service ends it: the report says how far it came. */
export const deleteContacts = fnRedacted("deleteContacts")(function* <E, R>(
  contacts: Stream.Stream<Pick<Contact, "email">, E, R>,
  options: { readonly onProgress?: ((deleted: number) => Effect.Effect<void>) | undefined } = {}
) {
  const service = yield* ContactsService
  let deleted = 0
  let left = 0
  let stoppedBy: ServiceError | undefined
  yield* contacts.pipe(
    Stream.map(({ email }) => email),
    Stream.grouped(addressesPerDelete),
    Stream.runForEach(([first, ...rest]) => {
      const count = rest.length + 1
      if (stoppedBy !== undefined) {
        left += count
        return Effect.void
      }
      return service.deleteMany(ContactFilter.ByEmails({ emails: [first, ...rest] })).pipe(
        Effect.flatMap(() => {
          deleted += count
          return options.onProgress?.(deleted) ?? Effect.void
        }),
        Effect.catchTag("ServiceError", (error) =>
          Effect.sync(() => {
            left += count
            stoppedBy = error
          })
        )
      )
    })
  )
  const report: DeletionReport = { deleted, left, stoppedBy }
  return report
})

/** Whether a number of contacts is more than half of all: one look at the place that is twice as far. */
export const isMoreThanHalf = fnRedacted("isMoreThanHalf")(function* (count: number) {
  if (count === 0) return false
  const service = yield* ContactsService
  const beyond = yield* service.list({ limit: 1, offset: 2 * count - 1 })
  return beyond.length === 0
})
