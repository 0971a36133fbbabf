/**
 * Records as JSON, each on a line: an array of them or NDJSON. They are written as bytes, a part of the stream after the
 * other into the same memory, so that printing millions of them leaves nothing to collect.
 */
import { Stream } from "effect"
import { jsonText } from "./Printable.ts"

/**
 * Writes a record as JSON without what a terminal would act on, from a place on, and gives the place behind it; -1 for one
 * that needs `jsonText`, or more room.
 */
export type PlainWriter<A> = (value: A, bytes: Uint8Array, start: number) => number

const encoder = new TextEncoder()
const encoded = (text: string): Uint8Array => encoder.encode(text)

/** What stands before the first record, before each other one, behind each and behind all, and what there is without any. */
const frames = {
  json: {
    first: encoded("[\n"),
    next: encoded(",\n"),
    behind: encoded(""),
    last: encoded("\n]\n"),
    none: encoded("[]\n")
  },
  ndjson: { first: encoded(""), next: encoded(""), behind: encoded("\n"), last: encoded(""), none: encoded("") }
}

/** Room for a record of ordinary size, in bytes; for a larger one it is made when it is known. */
const usualRoom = 16 * 1024

/** Each part is overwritten by the next one, so it must have been used when that is asked for. */
export const jsonLines = <A, E, R>(
  values: Stream.Stream<A, E, R>,
  options: {
    readonly format: keyof typeof frames
    readonly encode: (value: A) => unknown
    readonly plain?: PlainWriter<A> | undefined
  }
): Stream.Stream<Uint8Array, E, R> =>
  Stream.suspend(() => {
    const { encode, plain } = options
    const { behind, first, last, next, none } = frames[options.format]
    let bytes = new Uint8Array(4 * usualRoom)
    let used = 0
    let isFirst = true

    const reserve = (room: number): void => {
      if (bytes.length - used >= room) return
      const larger = new Uint8Array(2 * bytes.length + room)
      larger.set(bytes.subarray(0, used))
      bytes = larger
    }
    const write = (piece: Uint8Array): void => {
      reserve(piece.length)
      bytes.set(piece, used)
      used += piece.length
    }
    const writeRecord = (value: A): void => {
      reserve(usualRoom)
      const end = plain === undefined ? -1 : plain(value, bytes, used)
      if (end < 0) write(encoded(jsonText(encode(value))))
      else used = end
    }

    const parts = Stream.mapArray(values, (part) => {
      used = 0
      for (const value of part) {
        write(isFirst ? first : next)
        isFirst = false
        writeRecord(value)
        write(behind)
      }
      return [bytes.subarray(0, used)]
    })
    return Stream.concat(
      parts,
      Stream.sync(() => (isFirst ? none : last))
    )
  })
