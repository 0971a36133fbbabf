/**
 * The content of an upload: the file itself, or what is packed in it, unpacked as it is read. The central directory of an
 * archive is checked first, and since it can lie, everything is counted again. (docs/decisions/csv.md)
 */
import { UnreadableFile } from "@roster/domain"
import {
  decompressionIssue,
  documentIssue,
  isIgnoredEntry,
  isPacked,
  isZip,
  maximumEntries,
  nameIssue,
  tooManyEntries,
  tooManyFiles,
  unpacked
} from "@roster/domain/PackedFile"
import { Effect, Sink, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { inParts, partLengths, readFrom } from "../queue/JobBlobs.ts"

const unreadable = (reason: string) => new UnreadableFile({ line: 1, reason })

/** The first part of the bytes, and all of them. */
const peek = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.peel(inParts(bytes), Sink.take<Uint8Array>(1)), ([[first], rest]) => ({
    first,
    whole: first === undefined ? rest : Stream.concat(Stream.make(first), rest)
  }))

/** The content of an upload, unpacked if needed. */
export const contentOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.unwrap(
    Effect.map(peek(bytes), ({ first, whole }) =>
      first !== undefined && isPacked(first) ? inParts(unpacked(whole)) : whole
    )
  )

/** The end record with the longest comment behind it and the two records of ZIP64 before it. */
const tailBytes = 22 + 65_535 + 20 + 56

/** The most entries, each with the longest path of Linux. */
const maximumDirectoryBytes = maximumEntries * (46 + 4096)

const broken = (why: string) => unreadable(`the archive is broken or breaks off: ${why}`)

/** The position of the central directory. */
interface Directory {
  readonly entries: number
  readonly bytes: number
  readonly offset: number
}

/** An integer of 8 bytes. Above 2^53 it is too large in any case. */
const wide = (view: DataView, at: number): number => Number(view.getBigUint64(at, true))

const directoryIn = (tail: Uint8Array): Directory | undefined => {
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

/** Why the entries of a central directory are refused, or `undefined`. */
const entriesIssue = (list: Uint8Array, entries: number): string | undefined => {
  const view = new DataView(list.buffer, list.byteOffset, list.length)
  let at = 0
  const names: Array<string> = []
  let packed = 0
  let decompressed = 0
  for (let entry = 0; entry < entries; entry++) {
    if (at + 46 > list.length || view.getUint32(at, true) !== 0x02014b50)
      return "the archive's list of files cannot be read"
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(list.subarray(at + 46, at + 46 + nameLength))
    const issue = nameIssue(name) ?? documentIssue(name)
    if (issue !== undefined) return issue
    if ((view.getUint16(at + 8, true) & 1) !== 0) return "the archive is encrypted; send one without a password"
    // The file type is in the upper half of the attributes; other systems leave it 0.
    if (view.getUint16(at + 40, true) >>> 12 === 0xa) return "the archive holds a link in place of a file"
    if (!isIgnoredEntry(name)) names.push(name)
    packed += view.getUint32(at + 20, true)
    decompressed += view.getUint32(at + 24, true)
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  if (names.length !== 1) return names.length === 0 ? "the archive holds no file" : tooManyFiles(names)
  return decompressionIssue(packed, decompressed)
}

/** Refuses an archive by its central directory. Accepts every other file. */
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
  const list = directoryIn(yield* read(size - tailSize, tailSize))
  if (list === undefined) return yield* broken("the list of its files is missing")
  if (list.entries > maximumEntries) return yield* unreadable(tooManyEntries)
  if (list.offset + list.bytes > size) return yield* broken("the list of its files lies outside of it")
  if (list.bytes > maximumDirectoryBytes) return yield* unreadable("the list of the archive's files is too long")
  const issue = entriesIssue(yield* read(list.offset, list.bytes), list.entries)
  if (issue !== undefined) return yield* unreadable(issue)
})
