/** The file of a job, in parts beside its row: they are in every backup, and each commits with its step. */
import { TaggedError } from "@roster/domain"
import { Effect, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { WriteFairness } from "../../store/sqlite/LockContention.ts"
import { addBytes } from "./JobQuotas.ts"

const partBytes = 256 * 1024

/** Cuts bytes into parts of one size. */
export const inParts = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() => {
    let held: Array<Uint8Array> = []
    let size = 0
    const flush = (): ReadonlyArray<Uint8Array> => {
      if (size === 0) return []
      const part = Buffer.concat(held)
      held = []
      size = 0
      return [part]
    }
    const take = (piece: Uint8Array): ReadonlyArray<Uint8Array> => {
      held.push(piece)
      size += piece.length
      return size < partBytes ? [] : flush()
    }
    return bytes.pipe(Stream.map(take), Stream.concat(Stream.sync(flush)), Stream.flattenIterable)
  })

/** The parts of one transaction: 2 MiB, for which other writers wait some milliseconds. */
const partsAtOnce = 8

/** Stores a stream as the parts of a job, several per transaction, each of which begins with `first`. */
export const storeParts = Effect.fnUntraced(function* <E, E2 = never, R2 = never>(
  job: number,
  bytes: Stream.Stream<Uint8Array, E>,
  first: Effect.Effect<void, E2, R2> = Effect.void
) {
  const sql = yield* SqlClient.SqlClient
  const { yieldToWriters } = yield* WriteFairness
  let part = 0
  const write = Effect.fnUntraced(function* (contents: ReadonlyArray<Uint8Array>) {
    yield* first
    yield* addBytes(
      job,
      contents.reduce((sum, { length }) => sum + length, 0)
    )
    for (const [index, content] of contents.entries()) {
      yield* sql`INSERT INTO job_parts ${sql.insert({ job, part: part + index, content })}`
    }
  })
  yield* inParts(bytes).pipe(
    Stream.rechunk(partsAtOnce),
    Stream.runForEachArray((contents) =>
      Effect.gen(function* () {
        yield* sql.withTransaction(write(contents))
        part += contents.length
        yield* yieldToWriters
      })
    )
  )
})

/** The parts that one transaction removes: 64 MiB, so that others can write in between. */
const partsRemovedAtOnce = 256

/** Removes some parts of a job, and says whether there can be more. */
const removeSome = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  const removed = yield* sql`
    DELETE FROM job_parts WHERE job = ${job} AND part IN (
      SELECT part FROM job_parts WHERE job = ${job} LIMIT ${partsRemovedAtOnce}
    ) RETURNING part`
  if (removed.length === partsRemovedAtOnce) return true
  yield* sql`UPDATE jobs SET bytes = 0 WHERE number = ${job} AND bytes > 0`
  return false
})

/** Removes the parts of a job that has ended, within its transaction; the cleanup removes those of a large file. */
export const removeParts = (job: number) => Effect.asVoid(removeSome(job))

/** Removes all parts of a job, in transactions of their own that each begin with `first`. */
export const removeAllParts = Effect.fnUntraced(function* <E = never, R = never>(
  job: number,
  first: Effect.Effect<void, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const { yieldToWriters } = yield* WriteFairness
  const step = Effect.tap(sql.withTransaction(Effect.andThen(first, removeSome(job))), () => yieldToWriters)
  yield* Effect.repeat(step, { while: (isMore) => isMore })
})

/** A part of the file of a job is missing: what there is would be a shorter file. */
export class PartMissing extends TaggedError<PartMissing>()("PartMissing", {}) {
  override get message(): string {
    return "a part of its file is missing in the store; send or request it again"
  }
}

/** The lengths of the parts of a job, in order. They are the whole file. */
export const partLengths = Effect.fnUntraced(function* (job: number) {
  const sql = yield* SqlClient.SqlClient
  // A file without parts is one row without a length.
  const rows = yield* sql<{ readonly length: number | null; readonly bytes: number }>`
    SELECT length(content) AS length, bytes FROM jobs LEFT JOIN job_parts ON job = number
    WHERE number = ${job} ORDER BY part`
  const lengths = rows.flatMap(({ length }) => (length === null ? [] : [Number(length)]))
  const size = lengths.reduce((sum, length) => sum + length, 0)
  return size === Number(rows[0]?.bytes) ? lengths : yield* new PartMissing({})
})

/** Reads so many parts from one on, one part per query, so that a slow reader keeps no transaction open. */
const readSome = (sql: SqlClient.SqlClient, job: number, parts: number, from: number) =>
  Stream.paginate(from, (part) =>
    part >= parts
      ? Effect.succeed([[], Option.none()] as const)
      : Effect.flatMap(
          sql<{ readonly content: Uint8Array }>`SELECT content FROM job_parts WHERE job = ${job} AND part = ${part}`,
          ([row]) =>
            row === undefined
              ? Effect.fail(new PartMissing({}))
              : Effect.succeed([[row.content], Option.some(part + 1)] as const)
        )
  )

/** Reads the whole file of a job. */
export const readParts = (sql: SqlClient.SqlClient, job: number) =>
  Stream.unwrap(
    Effect.map(Effect.provideService(partLengths(job), SqlClient.SqlClient, sql), ({ length }) =>
      readSome(sql, job, length, 0)
    )
  )

/** Reads from a byte on, given the lengths of the parts. */
export const readFrom = (sql: SqlClient.SqlClient, job: number, lengths: ReadonlyArray<number>, byte: number) => {
  let part = 0
  let skip = byte
  for (const length of lengths) {
    if (skip < length) break
    skip -= length
    part++
  }
  return readSome(sql, job, lengths.length, part).pipe(
    Stream.map((content, index) => (index === 0 ? content.subarray(skip) : content))
  )
}
