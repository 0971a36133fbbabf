/**
 * Bringing the rows of a file to a service, with an account of every row that adds up:
 * read = accepted + rejected + duplicates + notSent + unknown.
 */
import { Effect, Result, Stream } from "effect"
import type { ContactPayload } from "./Contact.ts"
import { addAll, AddOutcome } from "./ContactAdds.ts"
import type { ContactRow } from "./ContactCsv.ts"
import { emailIdentity } from "./EmailAddress.ts"
import type { ServiceError } from "./ServiceError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface RejectedRow {
  readonly line: number
  readonly reason: string
}

/**
 * What became of every row.
 *
 * @category models
 * @since 0.1.0
 */
export interface UploadReport {
  readonly read: number
  /** Added or updated. */
  readonly accepted: number
  /** Refused by our own check or by the service, with the line and the reason of each, in order. */
  readonly rejected: ReadonlyArray<RejectedRow>
  /** Rows whose address a later row of the file has too; the last one is sent. */
  readonly duplicates: number
  /** Rows that were not sent because the upload stopped before them. */
  readonly notSent: number
  /** Rows that were sent and whose answer was lost. */
  readonly unknown: number
  /** Why the upload stopped, where it did. */
  readonly stoppedBy: ServiceError | undefined
}

interface Sendable {
  readonly line: number
  readonly contact: ContactPayload
}

/**
 * Reads all rows, then sends the good ones in the order of the file, of each address the last. A failure that is about the
 * service and not about the rows ends the upload: what was not sent is counted as such.
 *
 * @category programs
 * @since 0.1.0
 */
export const uploadContacts = Effect.fn("uploadContacts")(function* <E>(
  rows: Stream.Stream<ContactRow, E>,
  options?: { readonly listNames?: ReadonlyArray<string> | undefined }
) {
  const rejected: Array<RejectedRow> = []
  const byIdentity = new Map<string, Sendable>()
  let read = 0
  let duplicates = 0
  yield* Stream.runForEachArray(rows, (chunk) =>
    Effect.sync(() => {
      for (const { contact, line } of chunk) {
        read++
        if (Result.isFailure(contact)) {
          rejected.push({ line, reason: contact.failure })
          continue
        }
        const identity = emailIdentity(contact.success.email)
        if (byIdentity.delete(identity)) duplicates++
        byIdentity.set(identity, { line, contact: contact.success })
      }
    })
  )

  const sendable = [...byIdentity.values()]
  const counts = { accepted: 0, notSent: 0, unknown: 0 }
  let stoppedBy: ServiceError | undefined
  let at = 0
  const count = AddOutcome.$match({
    Accepted: () => {
      counts.accepted++
    },
    Refused: ({ error }) => {
      rejected.push({ line: sendable[at]?.line ?? 0, reason: error.message })
    },
    Unknown: ({ error }) => {
      counts.unknown++
      stoppedBy ??= error
    },
    NotSent: ({ error }) => {
      counts.notSent++
      stoppedBy ??= error
    }
  })
  yield* addAll(Stream.fromIterable(sendable.map((row) => row.contact)), options).pipe(
    Stream.runForEachArray((outcomes) =>
      Effect.sync(() => {
        for (const outcome of outcomes) {
          count(outcome)
          at++
        }
      })
    )
  )
  rejected.sort((a, b) => a.line - b.line)
  const report: UploadReport = { read, ...counts, rejected, duplicates, stoppedBy }
  return report
})
