/**
 * The first look at a file that is uploaded, before anything is sent: what could be sent of it, what is wrong with the rest,
 * and which rows a later row of the same address makes superfluous.
 */
import { Effect, Result, Stream } from "effect"
import {
  contactOf,
  type ImportRow,
  canonicalEmail,
  type FileHeader,
  fnRedacted,
  type RejectedRow
} from "@roster/domain"
import { makeDuplicateIndex } from "./DuplicateIndex.ts"
import { makeBitset, type Bitset } from "./Bitset.ts"

/** The most rejected rows that an account names one by one. The file of rejected rows has all. */
export const maximumNamedRows = 10_000

export interface UploadSurvey {
  /** The header of the file; `undefined` where there are no rows. */
  readonly header: FileHeader | undefined
  readonly read: number
  /** Rows that our own check refuses. */
  readonly invalid: number
  /** The first of them. */
  readonly firstInvalid: ReadonlyArray<Omit<RejectedRow, "cells">>
  /** Rows whose address a later row of the file has too; the last one is sent. */
  readonly duplicates: number
  /** The numbers of the rows that are to be sent. */
  readonly sendable: Bitset
}

/**
 * Reads all rows and keeps none. Rows are numbered from 1. Beyond a quarter of a million there is a temporary file meanwhile.
 */
export const surveyContacts = fnRedacted("surveyContacts")(function* <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  options: { readonly onProgress?: ((read: number) => Effect.Effect<void>) | undefined } = {}
) {
  const index = yield* makeDuplicateIndex
  const sendable = makeBitset()
  const firstInvalid: Array<Omit<RejectedRow, "cells">> = []
  let header: FileHeader | undefined
  let read = 0
  let invalid = 0
  let duplicates = 0
  yield* Stream.runForEachArray(rows, (part) =>
    Effect.suspend(() => {
      header ??= part[0].header
      for (const row of part) {
        read++
        const { fast } = row
        if (fast !== undefined) index.put(fast, read)
        else {
          const { line } = row
          const contact = contactOf(row)
          if (Result.isFailure(contact)) {
            invalid++
            if (firstInvalid.length < maximumNamedRows) firstInvalid.push({ line, reason: contact.failure })
            continue
          }
          index.put(canonicalEmail(contact.success.email), read)
        }
        sendable.add(read)
      }
      return options.onProgress === undefined ? index.spill : Effect.andThen(index.spill, options.onProgress(read))
    })
  )
  yield* index.followed((row) => {
    sendable.remove(row)
    duplicates++
  })
  const survey: UploadSurvey = { header, read, invalid, firstInvalid, duplicates, sendable }
  return survey
}, Effect.scoped)
