/** Deletes many contacts by address in batches, with progress, and tells whether a number is more than half of all. */
import { Effect, Stream } from "effect"
import { type Contact, ContactFilter, ContactsService, fnRedacted, type ServiceError } from "@roster/domain"

/** Number of addresses per request, small enough to show progress. */
const deleteBatchSize = 1000

/** The outcome of `deleteContacts`. */
export interface DeletionReport {
  /** Addresses that the service confirmed as deleted, whether a contact had them or not. */
  readonly deleted: number
  /** Addresses whose deletion is unknown or was not requested. */
  readonly left: number
  /** The error that stopped the deletion, if one did. */
  readonly stoppedBy: ServiceError | undefined
}

/**
 * Deletes contacts by address, so that later matches of a rule survive. A service failure ends it; safe to repeat.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { deleteContacts } from "@roster/workflows"
 * import { Console, Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const gone = (yield* ContactsService).stream({ rule: "status = Bounced" })
 *   return yield* deleteContacts(gone, { onProgress: (deleted) => Console.error(`${deleted} deleted`) })
 * })
 * ```
 */
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
    Stream.grouped(deleteBatchSize),
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

/** Whether a number of contacts is more than half of all, found by listing the one at twice that offset. */
export const isMoreThanHalf = fnRedacted("isMoreThanHalf")(function* (count: number) {
  if (count === 0) return false
  const service = yield* ContactsService
  const beyond = yield* service.list({ limit: 1, offset: 2 * count - 1 })
  return beyond.length === 0
})
