/**
 * A look at the list at the end of an archive, before anything of it is unfolded. The list may lie: `ImportFile` counts
 * again as it reads.
 */
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import {
  isBeside,
  isZip,
  maximumEntries,
  nameIssue,
  tooManyEntries,
  tooManyFiles,
  unfoldingIssue,
  unreadable
} from "./ImportFile.ts"
import { partLengths, readFrom } from "../queue/JobBlobs.ts"

/** The end of the list, with the longest comment behind it and the two records of ZIP64 before it. */
const tailBytes = 22 + 65_535 + 20 + 56

/** As many names as there may be, each as long as a path of Linux. */
const maximumListBytes = maximumEntries * (46 + 4096)

const broken = (why: string) => unreadable(`the archive is broken or breaks off: ${why}`)

interface List {
  readonly entries: number
  readonly bytes: number
  readonly offset: number
}

/** A number of eight bytes; what is above 2^53 is too large in any case. */
const wide = (view: DataView, at: number): number => Number(view.getBigUint64(at, true))

const listIn = (tail: Uint8Array): List | undefined => {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.length)
  for (let at = tail.length - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== 0x06054b50 || at + 22 + view.getUint16(at + 20, true) > tail.length) continue
    const list = {
      entries: view.getUint16(at + 10, true),
      bytes: view.getUint32(at + 12, true),
      offset: view.getUint32(at + 16, true)
    }
    const isWide = list.entries === 0xffff || list.bytes === 0xffffffff || list.offset === 0xffffffff
    const record = at - 20 - 56
    return isWide && record >= 0 && view.getUint32(record, true) === 0x06064b50
      ? { entries: wide(view, record + 32), bytes: wide(view, record + 40), offset: wide(view, record + 48) }
      : list
  }
  return undefined
}

/** What speaks against the entries that a list names. */
const entriesIssue = (list: Uint8Array, entries: number): string | undefined => {
  const view = new DataView(list.buffer, list.byteOffset, list.length)
  let at = 0
  let files = 0
  let packed = 0
  let unfolded = 0
  for (let entry = 0; entry < entries; entry++) {
    if (at + 46 > list.length || view.getUint32(at, true) !== 0x02014b50)
      return "the archive's list of files cannot be read"
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(list.subarray(at + 46, at + 46 + nameLength))
    const issue = nameIssue(name)
    if (issue !== undefined) return issue
    if ((view.getUint16(at + 8, true) & 1) !== 0) return "the archive is encrypted; send one without a password"
    // The file type is in the upper half of the attributes; other systems leave it 0.
    if (view.getUint16(at + 40, true) >>> 12 === 0xa) return "the archive holds a link in place of a file"
    // Readers of workbooks find their parts by this name.
    if (name === "[Content_Types].xml") return "it is a workbook; save it as CSV and send that"
    if (!isBeside(name)) files++
    packed += view.getUint32(at + 20, true)
    unfolded += view.getUint32(at + 24, true)
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  if (files !== 1) return files === 0 ? "the archive holds no file" : tooManyFiles
  return unfoldingIssue(packed, unfolded)
}

/** Refuses an archive among the received files for what its list says; leaves every other file alone. */
export const checkArchive = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  const lengths = yield* partLengths(job)
  const size = lengths.reduce((sum, length) => sum + length, 0)
  const read = Effect.fnUntraced(function* (from: number, bytes: number) {
    const result = new Uint8Array(bytes)
    let filled = 0
    yield* readFrom(sql, job, lengths, from).pipe(
      Stream.takeUntil((part) => {
        result.set(part.subarray(0, bytes - filled), filled)
        filled += Math.min(part.length, bytes - filled)
        return filled === bytes
      }),
      Stream.runDrain
    )
    return result
  })
  if (size < 4 || !isZip(yield* read(0, 4))) return
  const tailSize = Math.min(size, tailBytes)
  const list = listIn(yield* read(size - tailSize, tailSize))
  if (list === undefined) return yield* broken("the list of its files is missing")
  if (list.entries > maximumEntries) return yield* unreadable(tooManyEntries)
  if (list.offset + list.bytes > size) return yield* broken("the list of its files lies outside of it")
  if (list.bytes > maximumListBytes) return yield* unreadable("the list of the archive's files is too long")
  const issue = entriesIssue(yield* read(list.offset, list.bytes), list.entries)
  if (issue !== undefined) return yield* unreadable(issue)
})
