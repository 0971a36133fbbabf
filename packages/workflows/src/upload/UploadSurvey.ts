/** Reads the rows of an import once before anything is sent, and counts what would be sent. */
import { type Array as Arrays, Effect, Result, Schema, Stream } from "effect"
import {
  type AddMode,
  canonicalEmail,
  ContactPayload,
  type FileHeader,
  type ImportMapping,
  type ImportRow,
  type ImportWarning,
  type OnDuplicate,
  type Resubscribe,
  TaggedError,
  type InvalidInput
} from "@roster/domain"
import {
  ContactColumns,
  contactOf,
  ContactStates,
  fnRedacted,
  makeConsentWarnings,
  makeImportWarnings,
  mayBeKept,
  repeatedSizeIssue,
  strictnessOf,
  KnownFields,
  modeFields
} from "@roster/domain/internal"
import {
  makeRejectionCauses,
  named,
  type NamedRejection,
  type Rejection,
  type RejectionCause,
  rejectionOf
} from "../runs/Rejections.ts"
import { type Bitset, makeBitset } from "./Bitset.ts"
import { makeRowLines, mergeRows, pairsOfRows, repeatedRejection, type RepeatedRow } from "./RepeatedRows.ts"

/** Maximum number of rejected rows that a report lists. The file of rejected rows has all. */
export const maximumNamedRows = 10_000

/** Maximum number of rows of which a report says into which other row they are merged. */
const maximumNamedDuplicates = 20

/** The result of reading a file before anything is sent. */
export interface UploadSurvey {
  /** The header of the file; `undefined` if there are no rows. */
  readonly header: FileHeader | undefined
  /** Number of rows in the file. */
  readonly read: number
  /** Number of rows that our own check rejects. */
  readonly rejected: number
  /** The first of them, up to 10,000. */
  readonly rejectedRows: ReadonlyArray<NamedRejection>
  /** Why all of them are, those of most rows first. */
  readonly causes: ReadonlyArray<RejectionCause>
  /** What is odd: columns that say who wants mail and become fields, several statuses of one address, and of the rows that are taken what was asked for. */
  readonly warnings: ReadonlyArray<ImportWarning>
  /** The first text below a column without a name, counted from 0, and the line of its row. */
  readonly unnamed: { readonly line: number; readonly column: number; readonly text: string } | undefined
  /** Number of rows that are merged into a later one with their address. */
  readonly duplicates: number
  /** What counts of the rows of an address. */
  readonly onDuplicate: OnDuplicate
  /** The first rows that are merged into another, up to 20. */
  readonly duplicateRows: ReadonlyArray<RepeatedRow>
  /** The line of the row into which a row is merged, by its number; of one that is rejected, of another with its address. */
  readonly otherLine: (row: number) => number | undefined
  /** The rows, read again, of which the last one of each address has what all of them give. */
  readonly merged: <E, R>(
    rows: Stream.Stream<ImportRow, E, R>,
    resubscribe?: Resubscribe
  ) => Stream.Stream<ImportRow, E, R>
  /** Why a row is rejected, by its number; `undefined` if it is not. */
  readonly rejectionOf: (row: ImportRow, number: number) => Rejection | undefined
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
export interface SurveyOptions extends AddMode {
  /** How the rows were read. With it the survey has all warnings, and takes longer (default: without). */
  readonly mapping?: ImportMapping | undefined
  /** Runs now and then with the number of rows read so far. */
  readonly onProgress?: ((read: number) => Effect.Effect<void>) | undefined
  /** The number of rows beyond which it fails with `TooManyRows` (default: two million). */
  readonly maximumRows?: number | undefined
  /** What counts of the rows of an address (default: the last value of each field). */
  readonly onDuplicate?: OnDuplicate | undefined
  /** Whether a digest of the rows is made (default: false). */
  readonly digests?: boolean | undefined
}

const surveyFields = KnownFields.fieldsOf<SurveyOptions>("a survey", {
  ...modeFields,
  mapping: true,
  onProgress: true,
  maximumRows: true,
  onDuplicate: true,
  digests: true
})

const encodeContact = Schema.encodeSync(ContactPayload)

/** A file with headings alone may have been cut off where it was made. */
const noRows: ImportWarning = { code: "NoRows", warning: "it has no rows", count: 0, examples: [] }

/** No UTF-16 unit is equal to these. */
const endOfContact = 0x10000
const noContact = 0x10001

/** Makes the digest of rows. One without a contact takes a place among the others. */
const makeDigest = () => {
  const { add, value } = ContactStates.makeMixer()
  const addContact = (contact: Result.Result<ContactPayload, unknown>, lists: ReadonlyArray<string> = []): void => {
    if (Result.isFailure(contact)) return add(noContact)
    const json = JSON.stringify(encodeContact(contact.success)) + (lists.length === 0 ? "" : JSON.stringify(lists))
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
  /** The last row of each address, and the others. */
  const lastRows = new Map<string, number>()
  const others: Array<readonly [row: number, email: string]> = []
  const copied = makeCopier()
  const note = (email: string, row: number): void => {
    const before = lastRows.get(email)
    lastRows.set(email, row)
    if (before !== undefined) others.push([before, email])
  }
  const sendable = makeBitset()
  const { add: addLine, lineOf } = makeRowLines()
  const digest = digests ? makeDigest() : undefined
  const rejectedRows: Array<NamedRejection> = []
  const rejections = makeRejectionCauses()
  const defaultsStatus = defaultStatus !== undefined || only === "existing"
  const consent = makeConsentWarnings()
  const warnings = makeImportWarnings(mapping, { defaultsStatus })
  let header: FileHeader | undefined
  let read = 0
  let rejected = 0
  let mayResubscribe = false
  let unnamed: UploadSurvey["unnamed"]
  const add = (part: Arrays.NonEmptyReadonlyArray<ImportRow>): Effect.Effect<void, TooManyRows> =>
    Effect.suspend(() => {
      if (read + part.length > maximum) return Effect.fail(new TooManyRows({ maximum }))
      header ??= part[0].header
      for (const row of part) {
        addLine(++read, row.line)
        const contact = contactOf(row)
        consent.add(row)
        digest?.add(contact, row.lists)
        if (Result.isFailure(contact)) {
          rejected++
          const rejection = rejectionOf(row, contact.failure)
          rejections.add(rejection)
          if (rejectedRows.length < maximumNamedRows) rejectedRows.push(named(rejection))
          if (unnamed === undefined && row.unnamed !== undefined) unnamed = { line: row.line, ...row.unnamed }
          continue
        }
        mayResubscribe ||= mayBeKept(contact.success.status)
        note(copied(canonicalEmail(contact.success.email)), read)
        sendable.add(read)
        if (mapping !== undefined) warnings.add(row)
      }
      return onProgress === undefined ? Effect.void : onProgress(read)
    })

  /** The survey of all rows, which are read again if some have one address. */
  const end = Effect.fnUntraced(function* <E, R>(
    rows: Stream.Stream<ImportRow, E, R>
  ): Effect.fn.Return<UploadSurvey, E, R> {
    const isRejected = onDuplicate === "reject"
    const tooLarge = makeBitset()
    /** The row that is written in place of the last one of its address, which is too large. */
    const instead = new Map<number, number>()
    const lastOf = ([row, email]: readonly [row: number, email: string]): number => lastRows.get(email) ?? row
    const allPairs = others.map((other) => [other[0], lastOf(other)] as const)
    const withLast = pairsOfRows(allPairs)
    // In both directions, so that each of them has another.
    const inBoth = isRejected
      ? pairsOfRows(
          allPairs.flatMap(([row, last]) => [
            [row, last],
            [last, row]
          ])
        )
      : undefined
    let pairs = inBoth ?? withLast
    const columns = ContactColumns.columnFields(header?.cells ?? [], mapping)
    const column = columns.find(({ field }) => field === "Email")?.column
    const otherLine = (row: number): number | undefined => {
      const other = pairs.otherOf(row)
      return other === undefined ? undefined : lineOf(other)
    }
    const rejectionOfRow: UploadSurvey["rejectionOf"] = (row, number) => {
      const contact = contactOf(row)
      if (Result.isFailure(contact)) return rejectionOf(row, contact.failure)
      if (tooLarge.has(number)) return { line: row.line, reason: repeatedSizeIssue, email: contact.success.email }
      const other = isRejected ? otherLine(number) : undefined
      return other === undefined ? undefined : repeatedRejection(row, other, column)
    }
    if (withLast.count > 0) {
      // Only now it is known which rows they are.
      let number = 0
      let repeats = 0
      const merged = mergeRows(rows, {
        onDuplicate,
        lastOf: withLast.otherOf,
        onTooLarge: (row, of) => {
          tooLarge.add(row)
          if (withLast.otherOf(row) === undefined) instead.set(row, of.row)
        },
        onMerged: ({ line }, { contact, hasSeveralStatuses }) => {
          if (hasSeveralStatuses) warnings.addRepeat("Statuses", { line, value: contact.email })
        }
      })
      yield* Stream.runForEachArray(isRejected ? rows : merged, (part) =>
        Effect.sync(() => {
          for (const row of part) {
            const isOut = isRejected ? pairs.otherOf(++number) !== undefined : tooLarge.has(++number)
            const rejection = isOut ? rejectionOfRow(row, number) : undefined
            if (rejection === undefined) continue
            sendable.remove(number)
            rejected++
            rejections.add(rejection)
            if (++repeats <= maximumNamedRows) rejectedRows.push(named(rejection))
            const contact = contactOf(row)
            if (!isRejected || Result.isFailure(contact)) continue
            const { email, status } = contact.success
            if (strictnessOf(status) >= strictnessOf("Unsubscribed"))
              warnings.addRepeat("OptOut", { line: row.line, value: email })
          }
        })
      )
      rejectedRows.sort((one, other) => one.line - other.line).splice(maximumNamedRows)
    }
    if (!isRejected) {
      pairs = pairsOfRows(
        allPairs.flatMap(([row, last]) => {
          const into = instead.get(last) ?? last
          return tooLarge.has(row) || row === into ? [] : [[row, into]]
        })
      )
      for (const [row] of pairs.first(pairs.count)) sendable.remove(row)
    }
    const survey: UploadSurvey = {
      header,
      read,
      rejected,
      rejectedRows,
      causes: rejections.causes(),
      warnings: [...(read === 0 && mapping !== undefined ? [noRows] : []), ...consent.all(), ...warnings.all()],
      unnamed,
      duplicates: isRejected ? 0 : pairs.count,
      onDuplicate,
      duplicateRows: isRejected
        ? []
        : pairs.first(maximumNamedDuplicates).map(([row, into]) => ({ line: lineOf(row), winner: lineOf(into) })),
      otherLine,
      merged: (rows, resubscribe) =>
        isRejected || pairs.count === 0 ? rows : mergeRows(rows, { onDuplicate, resubscribe, lastOf: pairs.otherOf }),
      rejectionOf: rejectionOfRow,
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
): Effect.fn.Return<UploadSurvey, E | InvalidInput | TooManyRows, R> {
  yield* KnownFields.checkFields(surveyFields, options)
  const { add, end } = makeSurveyor(options)
  yield* Stream.runForEachArray(rows, add)
  return yield* end(rows)
})
