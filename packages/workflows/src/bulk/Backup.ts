/**
 * Contacts kept in a file before they are deleted, and brought back from it. The file is an export as Json (`exportTo`
 * makes it): records as they were, read one at a time in constant memory.
 */
import { Effect, Result, Schema, Stream } from "effect"
import { Contact, ContactPayload, fnRedacted, inputProblem, type ServiceError } from "@roster/domain"
import { addAll, AddOutcome } from "../upload/BulkAdd.ts"
import { jsonElements, NoJsonArray } from "./JsonElements.ts"

/** The file is no backup of contacts, or not a whole one. */
export class UnreadableBackup extends Schema.TaggedError<UnreadableBackup>()("UnreadableBackup", {
  reason: Schema.String
}) {
  override get message(): string {
    return `This is no whole backup of contacts: ${this.reason}`
  }
}

const decodeContacts = Schema.decodeUnknownEffect(Schema.NonEmptyArray(Contact))

const isBroken = (error: unknown): error is Schema.SchemaError | NoJsonArray =>
  Schema.isSchemaError(error) || error instanceof NoJsonArray

/** The contacts of a backup, in its order. */
export const readBackup = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Contact, UnreadableBackup | E, R> =>
  jsonElements(content).pipe(
    Stream.chunks,
    Stream.mapEffect((part) => decodeContacts(part)),
    Stream.flattenArray,
    Stream.mapError((error) => (isBroken(error) ? new UnreadableBackup({ reason: error.message }) : error))
  )

/** What is in a backup. */
export interface BackupSurvey {
  readonly count: number
  /** How many contacts there are of each status. */
  readonly statuses: ReadonlyMap<string, number>
  /** The first contacts, five at most. */
  readonly sample: ReadonlyArray<Contact>
}

const sampleSize = 5

/** Reads a backup to its end, and so proves that it can be read. */
export const surveyBackup = fnRedacted("surveyBackup")(function* <E, R>(contacts: Stream.Stream<Contact, E, R>) {
  let count = 0
  const statuses = new Map<string, number>()
  const sample: Array<Contact> = []
  yield* Stream.runForEachArray(contacts, (part) =>
    Effect.sync(() => {
      count += part.length
      for (const contact of part) {
        const status = contact.status ?? ""
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (sample.length < sampleSize) sample.push(contact)
      }
    })
  )
  const survey: BackupSurvey = { count, statuses, sample }
  return survey
})

/** What became of the contacts of a backup: read = restored + refused + notSent + unknown. */
export interface RestoreReport {
  readonly read: number
  readonly restored: number
  readonly refused: ReadonlyArray<{ readonly email: string; readonly reason: string }>
  readonly notSent: number
  /** Contacts that were sent and whose answer was lost. */
  readonly unknown: number
  /** Why the restoring stopped, where it did. */
  readonly stoppedBy: ServiceError | undefined
}

const decodePayload = Schema.decodeUnknownResult(ContactPayload)
const encodeContact = Schema.encodeUnknownResult(Contact)

/** What of a contact can be sent. A consent without a date says so by `null`, which travels as it is. */
const payloadOf = (contact: Contact): Result.Result<ContactPayload, string> =>
  encodeContact(contact).pipe(
    Result.flatMap(({ Consent, CustomFields, Email, FirstName, LastName, Status }) => {
      const record = { Email, Status, FirstName, LastName, CustomFields, Consent }
      return decodePayload(Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)))
    }),
    Result.mapError(inputProblem)
  )

/**
 * Adds the contacts of a backup again, or updates those that are there: address, status, names, custom fields and consent.
 * The interface takes no source, dates, activity or membership of lists, so that those are not brought back.
 */
export const restoreContacts = fnRedacted("restoreContacts")(function* <E, R>(
  contacts: Stream.Stream<Contact, E, R>,
  options: { readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined } = {}
) {
  const refused: Array<{ readonly email: string; readonly reason: string }> = []
  const counts = { restored: 0, notSent: 0, unknown: 0 }
  let read = 0
  let answered = 0
  let leftOut = 0
  let stoppedBy: ServiceError | undefined
  let lost: ServiceError | undefined
  const payloads = contacts.pipe(
    Stream.map((contact) => {
      read++
      const payload = payloadOf(contact)
      if (Result.isFailure(payload)) {
        refused.push({ email: contact.email, reason: payload.failure })
        leftOut++
        return []
      }
      return [payload.success]
    }),
    Stream.flattenIterable
  )
  const count = AddOutcome.$match({
    Accepted: () => {
      counts.restored++
    },
    Refused: ({ email, error }) => {
      refused.push({ email, reason: error.message })
    },
    Unknown: ({ error }) => {
      counts.unknown++
      lost ??= error
    },
    NotSent: ({ error }) => {
      counts.notSent++
      stoppedBy ??= error
    }
  })
  yield* addAll(payloads).pipe(
    Stream.runForEachArray((outcomes) =>
      Effect.suspend(() => {
        for (const outcome of outcomes) count(outcome)
        answered += outcomes.length
        return options.onProgress?.(answered + leftOut) ?? Effect.void
      })
    )
  )
  const report: RestoreReport = { read, ...counts, refused, stoppedBy: lost ?? stoppedBy }
  return report
})
