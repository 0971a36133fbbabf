/** Turns a file of any encoding into UTF-8 piece by piece, and fails for bytes that are not of that encoding. */
import { Result, Schema } from "effect"
import { joinBytes } from "../values/Bytes.ts"

/** The file as a whole cannot be read as contacts. */
export class UnreadableFile extends Schema.TaggedError<UnreadableFile>()("UnreadableFile", {
  /** The line at which reading ended, counted from 1. */
  line: Schema.Int,
  /** Why the file cannot be read, in words. */
  reason: Schema.String,
  /** The columns that are probably meant for fields of a contact, to be given as `columns`. */
  likelyFields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** The number of lines above what is probably the header, to be given as `skipLines`. */
  skipLines: Schema.optionalKey(Schema.Int),
  /** The encoding that the file probably has, to be given as `encoding`. */
  encoding: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `The file cannot be read as contacts: line ${this.line}: ${this.reason}.`
  }
}

/** The encoding of a byte order mark, which takes precedence over the option. */
const encodingByMark = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return undefined
}

const byteOrderMark = 3
const lookedAt = 16 * 1024

/** Whether this is the name of an encoding that can be read, as in the Encoding Standard. */
export const isEncoding = (name: string): boolean => {
  try {
    return new TextDecoder(name).encoding !== ""
  } catch {
    return false
  }
}

const nothing = new Uint8Array(0)
const lineFeed = 0x0a

/** Why decoding stopped, and the complete lines of the last piece before that place. */
interface BrokenText {
  readonly reason: string
  readonly before: Uint8Array
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** The lines before the first one that is not UTF-8. The piece may begin within a character. */
const readableLines = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  for (let end = 0; ;) {
    const next = bytes.indexOf(lineFeed, start) + 1
    if (next === 0 || !isUtf8(bytes.subarray(start, next))) return bytes.subarray(0, end)
    start = end = next
  }
}

/**
 * Makes a function that gives each piece of a file as UTF-8 without byte order mark, or fails for invalid bytes, which
 * must not become replacement characters in a name. The last call has `last`.
 */
export const makeTextReader = (
  encoding = "utf-8"
): ((piece: Uint8Array, last: boolean) => Result.Result<Uint8Array, BrokenText>) => {
  const encoder = new TextEncoder()
  let decoder: TextDecoder | undefined
  let held: Uint8Array = nothing
  return (piece, last) => {
    let bytes = piece
    if (decoder === undefined) {
      held = joinBytes([held, piece])
      if (held.length < byteOrderMark && !last) return Result.succeed(nothing)
      const marked = encodingByMark(held)
      const name = marked ?? encoding
      if (!isEncoding(name)) {
        return Result.fail({ reason: `there is no encoding ${JSON.stringify(name)}`, before: nothing })
      }
      decoder = new TextDecoder(name, { fatal: true })
      bytes = held
      piece = marked === "utf-8" ? held.subarray(byteOrderMark) : held
      held = nothing
    }
    try {
      if (decoder.encoding !== "utf-8") return Result.succeed(encoder.encode(decoder.decode(bytes, { stream: !last })))
      // Checked in small parts, whose texts are soon collected.
      for (let at = 0; at < bytes.length; at += lookedAt) {
        decoder.decode(bytes.subarray(at, at + lookedAt), { stream: true })
      }
      if (last) decoder.decode()
      return Result.succeed(piece)
    } catch {
      const reason = `soon after it come bytes that are not ${decoder.encoding}; say which encoding the file has`
      return Result.fail({ reason, before: decoder.encoding === "utf-8" ? readableLines(piece) : nothing })
    }
  }
}
