import { Effect, Result, Stream } from "effect"
import {
  contactOf,
  type ImportRow,
  canonicalEmail,
  type FileHeader,
  fnRedacted,
  isMailedStatus,
  type RejectedRow
} from "@roster/domain"
import { type Bitset, type DuplicateIndex, makeBitset, makeDuplicateIndex, makeMemoryIndex } from "./DuplicateIndex.ts"

/** Maximum number of rejected rows that a report lists. The file of rejected rows has all. */
export const maximumNamedRows = 10_000

/** The result of reading a file before anything is sent. */
export interface UploadSurvey {
  /** The header of the file; `undefined` if there are no rows. */
  readonly header: FileHeader | undefined
  readonly read: number
  /** Number of rows that our own check rejects. */
  readonly invalid: number
  /** The first of them, up to 10,000. */
  readonly firstInvalid: ReadonlyArray<Omit<RejectedRow, "cells">>
  /** Number of rows whose address a later row has too. Of the rows with one address, only the last one is sent. */
  readonly duplicates: number
  /** Whether a row has a status that may resubscribe somebody. */
  readonly mayResubscribe: boolean
  /** The numbers of the rows to send, counted from 1. */
  readonly sendable: Bitset
}

/** How rows are surveyed. */
export interface SurveyOptions {
  readonly onProgress?: ((read: number) => Effect.Effect<void>) | undefined
}

const surveyBy = Effect.fnUntraced(function* <E, R, EI>(
  index: DuplicateIndex<EI>,
  rows: Stream.Stream<ImportRow, E, R>,
  options: SurveyOptions
) {
  const sendable = makeBitset()
  const firstInvalid: Array<Omit<RejectedRow, "cells">> = []
  let header: FileHeader | undefined
  let read = 0
  let invalid = 0
  let duplicates = 0
  let mayResubscribe = false
  yield* Stream.runForEachArray(rows, (part) =>
    Effect.suspend(() => {
      header ??= part[0].header
      for (const row of part) {
        read++
        const { fast } = row
        if (fast !== undefined) index.add(fast, read)
        else {
          const { line } = row
          const contact = contactOf(row)
          if (Result.isFailure(contact)) {
            invalid++
            if (firstInvalid.length < maximumNamedRows) firstInvalid.push({ line, reason: contact.failure })
            continue
          }
          mayResubscribe ||= isMailedStatus(contact.success.status)
          index.add(canonicalEmail(contact.success.email), read)
        }
        sendable.add(read)
      }
      return options.onProgress === undefined ? index.spill : Effect.andThen(index.spill, options.onProgress(read))
    })
  )
  yield* index.superseded((row) => {
    sendable.remove(row)
    duplicates++
  })
  const survey: UploadSurvey = { header, read, invalid, firstInvalid, duplicates, mayResubscribe, sendable }
  return survey
})

/** Reads all rows before an upload, in constant memory, and finds which are sendable, invalid or superseded. */
export const surveyContacts = fnRedacted("surveyContacts")(function* <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: SurveyOptions = {}
) {
  return yield* surveyBy(yield* makeDuplicateIndex, rows, options)
}, Effect.scoped)

/** Like `surveyContacts`, without a file system: it keeps 16 bytes of each row in memory while it reads. */
export const surveyInMemory = fnRedacted("surveyInMemory")(function* <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: SurveyOptions = {}
) {
  return yield* surveyBy(yield* makeMemoryIndex, rows, options)
})
