/** Backups: exports as JSON, saved before a deletion and restored one contact at a time in constant memory. */
import { Effect, Schema, Stream } from "effect"
import {
  Contact,
  ContactPayload,
  fnRedacted,
  inputProblem,
  JsonParser,
  type ServiceError,
  type WithheldStatus,
  TaggedError
} from "@roster/domain"
import { addAll } from "../upload/BulkAdd.ts"
import { maximumNamedRows } from "../upload/UploadSurvey.ts"
import { makeUtf8Decoder } from "./Utf8Decoder.ts"

/** The file is not a backup of contacts, or not a complete one. */
export class UnreadableBackup extends TaggedError<UnreadableBackup>()("UnreadableBackup", {
  /** Why it cannot be read, in words. */
  reason: Schema.String
}) {
  override get message(): string {
    return `This is not a whole backup of contacts: ${this.reason}`
  }
}

const unreadable = (reason: string) => new UnreadableBackup({ reason })

/** Maximum length of an element in UTF-16 code units, far more than any contact has. */
const longestElement = 16 * 1024 * 1024

/** A character that is not JSON white space. */
const nonSpace = /[^ \t\n\r]/

/** Reads a JSON array that arrives in pieces, and gives each element as soon as it is complete. */
const arrayReader = () => {
  /** The text after the last element that was read. */
  let text = ""
  /** The offset in it where the scan continues. */
  let scanned = 0
  let place: "Before" | "Inside" | "After" = "Before"
  let isEmpty = true
  let depth = 0
  let inString = false
  const structural = /["\\[\]{},]/g

  /** Finds the last comma between elements or the end of the array; -1 if the text has neither. */
  const scan = () => {
    let end = -1
    for (;;) {
      structural.lastIndex = scanned
      const at = structural.exec(text)?.index
      if (at === undefined) {
        scanned = Math.max(scanned, text.length)
        return { end, isClosed: false }
      }
      scanned = at + 1
      const sign = text[at]
      if (inString) {
        // The escaped character is skipped, even if it is in the next piece.
        if (sign === "\\") scanned++
        else if (sign === '"') inString = false
      } else if (sign === '"') {
        inString = true
      } else if (sign === "{" || sign === "[") {
        depth++
      } else if (sign === "," && depth === 0) {
        end = at
      } else if (sign === "]" && depth === 0) {
        return { end: at, isClosed: true }
      } else if ((sign === "}" || sign === "]") && depth > 0) {
        depth--
      }
    }
  }

  /** Uses `JsonParser`, since custom fields may have any name. */
  const parse = Effect.fnUntraced(function* (elements: string, mayBeEmpty: boolean) {
    const parsed = yield* Effect.try({
      try: () => JsonParser.parse(`[${elements}]`),
      catch: () => unreadable("it is not JSON")
    })
    const isMissing = !mayBeEmpty && !nonSpace.test(elements)
    return Array.isArray(parsed) && !isMissing ? parsed : yield* unreadable("it is not JSON")
  })

  const read = Effect.fnUntraced(function* (piece: string) {
    let elements: ReadonlyArray<unknown> = []
    text += piece
    if (place === "Before") {
      const start = text.search(nonSpace)
      if (start < 0) return elements
      if (text[start] !== "[") return yield* unreadable("it is not a JSON array")
      text = text.slice(start + 1)
      place = "Inside"
    }
    if (place === "Inside") {
      const { end, isClosed } = scan()
      if (end < 0) {
        return text.length > longestElement ? yield* unreadable("one of its records has no end") : elements
      }
      elements = yield* parse(text.slice(0, end), isClosed && isEmpty)
      isEmpty = false
      text = text.slice(end + 1)
      scanned -= end + 1
      if (isClosed) place = "After"
    }
    if (place === "After" && nonSpace.test(text)) return yield* unreadable("there is text after its end")
    return elements
  })

  const end = Effect.suspend(() => (place === "After" ? Effect.void : unreadable("it breaks off")))
  return { read, end }
}

const jsonElements = <E, R>(content: Stream.Stream<Uint8Array, E, R>) =>
  Stream.suspend(() => {
    const reader = arrayReader()
    const decode = makeUtf8Decoder(() => unreadable("it is not UTF-8"))
    return content.pipe(
      Stream.mapEffect((piece) => Effect.flatMap(decode(piece), reader.read)),
      Stream.flattenIterable,
      Stream.concat(Stream.fromEffectDrain(Effect.andThen(reader.end, decode())))
    )
  })

const decodeContacts = Schema.decodeUnknownEffect(Schema.NonEmptyArray(Contact))

/** The contacts of a backup in UTF-8, in the order of the file. */
export const readBackup = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Contact, UnreadableBackup | E, R> =>
  jsonElements(content).pipe(
    Stream.chunks,
    Stream.mapEffect((part) => Effect.mapError(decodeContacts(part), ({ message }) => unreadable(message))),
    Stream.flattenArray
  )

/** The content of a backup in numbers and examples. */
export interface BackupSurvey {
  /** The number of contacts. */
  readonly count: number
  /** The number of contacts of each status. */
  readonly statuses: ReadonlyMap<string, number>
  /** The first contacts (maximum: 5). */
  readonly sample: ReadonlyArray<Contact>
}

const sampleSize = 5

/** Reads a backup to its end, which proves that it is complete. */
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

/** The outcome of a restore: read = restored + refused + notSent + unknown. */
export interface RestoreReport {
  /** Number of contacts in the backup. */
  readonly read: number
  /** Number of contacts that the service accepted. */
  readonly restored: number
  /** Number of restored contacts that kept the status they have now, since the backup would have resubscribed them. */
  readonly statusesKept: number
  /** The first of them (maximum: 10,000). */
  readonly keptStatuses: ReadonlyArray<{ readonly email: string; readonly status: WithheldStatus }>
  /** The contacts that the service refused, each with its reason in words. */
  readonly refused: ReadonlyArray<{ readonly email: string; readonly reason: string }>
  /** Number of contacts that were not sent. */
  readonly notSent: number
  /** Contacts that were sent but whose answer was lost. */
  readonly unknown: number
  /** The error that stopped the restore, if one did. */
  readonly stoppedBy: ServiceError | undefined
}

/**
 * Adds or updates the contacts of a backup. The interface accepts no source, dates, activity or list membership.
 *
 * ```ts
 * import { Contact } from "@roster/domain"
 * import { restoreContacts } from "@roster/workflows"
 * import { Stream } from "effect"
 *
 * const contacts = Stream.make(Contact.make({ email: "ada@example.com", status: "Active" }))
 *
 * export const example = restoreContacts(contacts, { resubscribe: false })
 * ```
 */
export const restoreContacts = fnRedacted("restoreContacts")(function* <E, R>(
  contacts: Stream.Stream<Contact, E, R>,
  options: {
    readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined
    /** Whether contacts that left since may be resubscribed, as `BulkAddOptions` has it (default: false). */
    readonly resubscribe?: boolean | undefined
  } = {}
) {
  const { onProgress, resubscribe } = options
  const keptStatuses: Array<{ readonly email: string; readonly status: WithheldStatus }> = []
  let statusesKept = 0
  const refused: Array<{ readonly email: string; readonly reason: string }> = []
  const counts = { Accepted: 0, Refused: 0, Unknown: 0, NotSent: 0 }
  let read = 0
  let stoppedBy: ServiceError | undefined
  let lost: ServiceError | undefined
  const payloads = contacts.pipe(
    Stream.chunks,
    Stream.mapEffect((part) =>
      Effect.forEach(part, (contact) => {
        read++
        return Effect.match(ContactPayload.fromContact(contact), {
          onSuccess: (payload) => [payload],
          onFailure: (error) => {
            refused.push({ email: contact.email, reason: inputProblem(error) })
            return []
          }
        })
      })
    ),
    Stream.flattenIterable,
    Stream.flattenIterable
  )
  yield* addAll(payloads, { resubscribe }).pipe(
    Stream.runForEachArray((outcomes) =>
      Effect.suspend(() => {
        for (const outcome of outcomes) {
          counts[outcome._tag]++
          if (outcome._tag === "Accepted" && outcome.keptStatus !== undefined) {
            statusesKept++
            const { item, keptStatus: status } = outcome
            if (keptStatuses.length < maximumNamedRows) keptStatuses.push({ email: item.email, status })
          }
          if (outcome._tag === "Refused") refused.push({ email: outcome.email, reason: inputProblem(outcome.error) })
          else if (outcome._tag === "Unknown") lost ??= outcome.error
          else if (outcome._tag === "NotSent") stoppedBy ??= outcome.error
        }
        const done = counts.Accepted + refused.length + counts.Unknown + counts.NotSent
        return onProgress?.(done) ?? Effect.void
      })
    )
  )
  const { Accepted: restored, NotSent: notSent, Unknown: unknown } = counts
  const report: RestoreReport = {
    read,
    restored,
    statusesKept,
    keptStatuses,
    refused,
    notSent,
    unknown,
    stoppedBy: lost ?? stoppedBy
  }
  return report
})
