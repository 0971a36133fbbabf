/** The content of a file as it is read: unpacked if it is packed, and the sheet of a workbook as CSV. */
import type { ImportMapping, UnreadableFile } from "@roster/domain"
import { isWorkbook, packedBytes, unpacked } from "@roster/domain/PackedFile"
import { Effect, type Stream } from "effect"
import { blobOf } from "../../kit/Blobs.ts"
import { bytesOf, lost } from "./BlobBytes.ts"
import type { ImportProblem } from "./ImportCalls.ts"

/** What a file holds. */
export interface ImportedContent {
  readonly bytes: Stream.Stream<Uint8Array, ImportProblem | UnreadableFile>
  /** How it is read, whatever else is said: a workbook is CSV of its sheet. */
  readonly mapping: ImportMapping
  readonly isWorkbook: boolean
}

/** Opens a file; of a workbook the first sheet, or the one of this name or number. */
export const openContent = Effect.fnUntraced(function* (file: Blob, sheet: string | undefined) {
  const start = yield* Effect.tryPromise({ try: () => file.slice(0, packedBytes).arrayBuffer(), catch: lost })
  if (!isWorkbook(new Uint8Array(start))) {
    const plain: ImportedContent = { bytes: unpacked(bytesOf(file)), mapping: {}, isWorkbook: false }
    return plain
  }
  const { workbookMapping, workbookToCsv } = yield* Effect.promise(() => import("@roster/workflows/Workbook"))
  // It is read more than once, and a workbook only as a whole.
  const csv = yield* blobOf(workbookToCsv(bytesOf(file), { sheet }), "text/csv")
  const content: ImportedContent = { bytes: bytesOf(csv), mapping: workbookMapping, isWorkbook: true }
  return content
})

/** The sheets of a workbook with addresses, other than the first. */
export const otherSheets = Effect.fnUntraced(function* (file: Blob) {
  const { otherAddressSheets } = yield* Effect.promise(() => import("@roster/workflows/Workbook"))
  return yield* otherAddressSheets(bytesOf(file))
})
