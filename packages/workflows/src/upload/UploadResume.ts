/**
 * What earlier runs of an upload settled, as the journal has it.
 */
import { Effect } from "effect"
import type { JournaledUpload } from "./Upload.ts"
import { makeBitset, type Bitset } from "./Bitset.ts"
import { differencesOf, OtherUpload } from "./UploadJournal.ts"
import type { UploadSurvey } from "./UploadSurvey.ts"

export interface EarlierRuns {
  /** Whether there is none that counts, so that the journal begins anew. */
  readonly isNew: boolean
  /** Rows that the service accepted, by their numbers. */
  readonly settled: Bitset
  readonly accepted: number
  /** Rows that the service refused, by their numbers: they are not sent again. */
  readonly refused: Map<number, { readonly line: number; readonly reason: string }>
  /** How many rows that can be sent have an answer. */
  readonly answered: number
}

/**
 * Reads the journal of an upload. Rows that were being sent when a run ended, and rows without an answer, count as not sent:
 * an add of a contact that is there updates it, so that sending it again does no harm.
 */
export const resumeUpload = Effect.fnUntraced(function* <E>(
  { read, sendable }: Pick<UploadSurvey, "read" | "sendable">,
  journal: JournaledUpload<E> | undefined
) {
  const settled = makeBitset()
  const refused: EarlierRuns["refused"] = new Map()
  const record = journal === undefined || journal.restart === true ? undefined : yield* journal.lines.load
  if (journal !== undefined && record !== undefined) {
    const differences = differencesOf(record.subject, journal.subject)
    if (differences.length > 0) return yield* new OtherUpload({ differences })
  }
  for (const entry of record?.entries ?? []) {
    if (entry._tag === "Sending") continue
    for (const [first, last] of entry.accepted) {
      for (let row = first; row <= Math.min(last, read); row++) if (sendable.has(row)) settled.add(row)
    }
    for (const { line, reason, row } of entry.refused) if (sendable.has(row)) refused.set(row, { line, reason })
  }
  // A stretch of accepted rows can have a refused one of an earlier run in it.
  for (const row of refused.keys()) settled.remove(row)
  let accepted = 0
  for (let row = 1; row <= read; row++) if (settled.has(row)) accepted++
  const earlier: EarlierRuns = {
    isNew: record === undefined,
    settled,
    accepted,
    refused,
    answered: accepted + refused.size
  }
  return earlier
})
