/** Reads the rows of an import once before anything is sent, and counts what would be sent. */
import { type Array as Arrays, Effect, Result, Schema, Stream } from "effect"
import {
  ContactColumns,
  contactOf,
  ContactPayload,
  type ImportRow,
  canonicalEmail,
  type FileHeader,
  fnRedacted,
  type ImportMapping,
  type ImportWarning,
  makeConsentWarnings,
  mayBeKept,
  makeImportWarnings,
  TaggedError
} from "@roster/domain"
import { makeMixer } from "../runs/ContactState.ts"
import type { ImportMode } from "../runs/ImportMode.ts"
import {
  makeRejectionCauses,
  named,
  type NamedRejection,
  type RejectionCause,
  rejectionOf
} from "../runs/Rejections.ts"
import { type Bitset, makeBitset } from "./Bitset.ts"
import { makeRepeatedRows, type OnDuplicate, repeatedRejection, type RepeatedRow } from "./RepeatedRows.ts"

/** Maximum number of rejected rows that a report lists. The file of rejected rows has all. */
export const maximumNamedRows = 10_000

/** Maximum number of rows of which a report says for which other row they are left out. */
const maximumNamedDuplicates = 20

/** The result of reading a file before anything is sent. */
export interface UploadSurvey {
  /** The header of the file; `undefined` if there are no rows. */
  readonly header: FileHeader | undefined
  /** Number of rows in the file. */
  readonly read: number
  /** Number of rows that our own check rejects. */
  readonly invalid: number
  /** The first of them, up to 10,000. */
  readonly firstInvalid: ReadonlyArray<NamedRejection>
  /** Why all of them are, those of most rows first. */
  readonly causes: ReadonlyArray<RejectionCause>
  /** What is odd: columns that say who wants mail and become fields, and of the rows that are taken what was asked for. */
  readonly warnings: ReadonlyArray<ImportWarning>
  /** The first text below a column without a name, counted from 0, and the line of its row. */
  readonly unnamed: { readonly line: number; readonly column: number; readonly text: string } | undefined
  /** Number of rows that are left out, since another row with their address is sent. */
  readonly duplicates: number
  /** Which row of an address is sent. */
  readonly onDuplicate: OnDuplicate
  /** The first rows that are left out for another, up to 20. */
  readonly duplicateRows: ReadonlyArray<RepeatedRow>
  /** The line of the row that is sent in place of a row, by its number; of one that is rejected, of another with its address. */
  readonly otherLine: (row: number) => number | undefined
  /** Whether a row has a status other than Unsubscribed and Abuse, so that it may lower that of a contact. */
  readonly mayResubscribe: boolean
  /** The numbers of the rows to send, counted from 1. */
  readonly sendable: Bitset
  /** A short text that sources with other rows do not have, but for one case in 10¹⁹; `undefined` if not asked for. */
  readonly digest: string | undefined
}

/** The maximum number of rows of one import, of which some 100 bytes each are in memory while they are read. */
export const maximumImportRows = 2_000_000

/** The source has more rows than one import takes. Nothing was sent. */
export class TooManyRows extends TaggedError<TooManyRows>()("TooManyRows", {
  /** The number of rows that an import takes. */
  maximum: Schema.Int
}) {
  override get message(): string {
    return (
      `There are more than ${this.maximum} rows, which one import does not take. Divide them into files that are ` +
      "imported one after another, or have the service import the file by itself."
    )
  }
}

/** How rows are surveyed. The mode is that of the import, which some warnings depend on. */
export interface SurveyOptions extends ImportMode {
  /** How the rows were read. With it the survey has all warnings, and takes longer (default: without). */
  readonly mapping?: ImportMapping | undefined
  /** Runs now and then with the number of rows read so far. */
  readonly onProgress?: ((read: number) => Effect.Effect<void>) | undefined
  /** The number of rows beyond which it fails with `TooManyRows` (default: two million). */
  readonly maximumRows?: number | undefined
  /** Which row of an address is sent (default: last). */
  readonly onDuplicate?: OnDuplicate | undefined
  /** Whether a digest of the rows is made (default: false). */
  readonly digests?: boolean | undefined
}

const encodeContact = Schema.encodeSync(ContactPayload)

/** No UTF-16 unit is equal to these. */
const endOfContact = 0x10000
const noContact = 0x10001

/** Makes the digest of rows. One without a contact takes a place among the others. */
const makeDigest = () => {
  const { add, value } = makeMixer()
  const addContact = (contact: Result.Result<ContactPayload, unknown>): void => {
    if (Result.isFailure(contact)) return add(noContact)
    const json = JSON.stringify(encodeContact(contact.success))
    for (let at = 0; at < json.length; at++) add(json.charCodeAt(at))
    add(endOfContact)
  }
  return { add: addContact, value }
}

/** Copies an address, which has at most 254 characters. What is a part of a longer text would keep that in memory. */
const makeCopier = () => {
  const bytes = new Uint8Array(4096)
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  return (text: string): string => decoder.decode(bytes.subarray(0, encoder.encodeInto(text, bytes).written))
}

/** Makes what surveys the rows that pass through it. */
export const makeSurveyor = (options: SurveyOptions) => {
  const {
    defaultStatus,
    digests = false,
    mapping,
    maximumRows: maximum = maximumImportRows,
    onDuplicate = "last",
    only,
    onProgress
  } = options
  /** The row of each address that counts, and the others. */
  const winners = new Map<string, number>()
  const others: Array<readonly [row: number, email: string]> = []
  const isLast = onDuplicate === "last"
  const copied = makeCopier()
  const note = (email: string, row: number): void => {
    const before = winners.get(email)
    if (before === undefined || isLast) winners.set(email, row)
    if (before !== undefined) others.push([isLast ? before : row, email])
  }
  const sendable = makeBitset()
  const repeated = makeRepeatedRows()
  const digest = digests ? makeDigest() : undefined
  const firstInvalid: Array<NamedRejection> = []
  const rejections = makeRejectionCauses()
  const defaultsStatus = defaultStatus !== undefined || only === "existing"
  const consent = makeConsentWarnings()
  const warnings = mapping === undefined ? undefined : makeImportWarnings(mapping, { defaultsStatus })
  let header: FileHeader | undefined
  let read = 0
  let invalid = 0
  let duplicates = 0
  let mayResubscribe = false
  let unnamed: UploadSurvey["unnamed"]
  const add = (part: Arrays.NonEmptyReadonlyArray<ImportRow>): Effect.Effect<void, TooManyRows> =>
    Effect.suspend(() => {
      if (read + part.length > maximum) return Effect.fail(new TooManyRows({ maximum }))
      header ??= part[0].header
      for (const row of part) {
        repeated.addLine(++read, row.line)
        const contact = contactOf(row)
        consent.add(row)
        digest?.add(contact)
        if (Result.isFailure(contact)) {
          invalid++
          const rejection = rejectionOf(row, contact.failure)
          rejections.add(rejection)
          if (firstInvalid.length < maximumNamedRows) firstInvalid.push(named(rejection))
          if (unnamed === undefined && row.unnamed !== undefined) unnamed = { line: row.line, ...row.unnamed }
          continue
        }
        mayResubscribe ||= mayBeKept(contact.success.status)
        note(copied(canonicalEmail(contact.success.email)), read)
        sendable.add(read)
        warnings?.add(row)
      }
      return onProgress === undefined ? Effect.void : onProgress(read)
    })

  /** The survey of all rows, which are read again if those with one address are rejected. */
  const end = Effect.fnUntraced(function* <E, R>(
    rows: Stream.Stream<ImportRow, E, R>
  ): Effect.fn.Return<UploadSurvey, E, R> {
    const isRejected = onDuplicate === "reject"
    let rejected = 0
    for (const [row, email] of others) {
      const winner = winners.get(email) ?? row
      const pairs =
        isRejected && sendable.has(winner)
          ? ([
              [row, winner],
              [winner, row]
            ] as const)
          : ([[row, winner]] as const)
      for (const [one, other] of pairs) {
        repeated.add(one, other)
        sendable.remove(one)
        if (isRejected) rejected++
        else duplicates++
      }
    }
    const { first, otherLine } = repeated.known()
    if (rejected > 0) {
      // Only now it is known which rows they are.
      const columns = ContactColumns.columnFields(header?.cells ?? [], mapping)
      const column = columns.find(({ field }) => field === "Email")?.column
      let number = 0
      let found = 0
      yield* Stream.runForEachArray(rows, (part) =>
        Effect.sync(() => {
          for (const row of part) {
            const other = otherLine(++number)
            if (other === undefined) continue
            const rejection = repeatedRejection(row, other, column)
            rejections.add(rejection)
            if (++found <= maximumNamedRows) firstInvalid.push(named(rejection))
          }
        })
      )
      invalid += rejected
      firstInvalid.sort((one, other) => one.line - other.line).splice(maximumNamedRows)
    }
    const survey: UploadSurvey = {
      header,
      read,
      invalid,
      firstInvalid,
      causes: rejections.causes(),
      warnings: [...consent.all(), ...(warnings?.all() ?? [])],
      unnamed,
      duplicates,
      onDuplicate,
      duplicateRows: isRejected ? [] : first(maximumNamedDuplicates),
      otherLine,
      mayResubscribe,
      sendable,
      digest: digest?.value()
    }
    return survey
  })
  return { add, end, isSendable: sendable.has }
}

/**
 * Reads all rows before an import, and finds which are sendable, invalid or repeated. It keeps the addresses in memory while it
 * reads, and then one bit of each row, and 8 bytes of each repeated one.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { surveyContacts } from "@roster/workflows"
 * import { Stream } from "effect"
 *
 * const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))
 *
 * export const example = surveyContacts(readContacts(file), { maximumRows: 1000 })
 * ```
 */
export const surveyContacts = fnRedacted("surveyContacts")(function* <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: SurveyOptions = {}
): Effect.fn.Return<UploadSurvey, E | TooManyRows, R> {
  const { add, end } = makeSurveyor(options)
  yield* Stream.runForEachArray(rows, add)
  return yield* end(rows)
})
