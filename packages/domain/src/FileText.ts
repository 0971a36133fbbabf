/**
 * The text of a file in whatever encoding it came. Bytes that the encoding does not have are an error with a line, never
 * a replacement character in somebody's name.
 */
import { Effect, Schema, Stream } from "effect"

/**
 * The file cannot be read as contacts at all.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnreadableFile extends Schema.TaggedError<UnreadableFile>()("UnreadableFile", {
  line: Schema.Int,
  reason: Schema.String
}) {
  override get message(): string {
    return `The file cannot be read as contacts: line ${this.line}: ${this.reason}.`
  }
}

/** A byte order mark outranks what was said of the encoding: whoever wrote it was there. */
const encodingByMark = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return undefined
}

/**
 * Whether an encoding of this name can be read: the names are those of the Encoding Standard.
 *
 * @category guards
 * @since 0.1.0
 */
export const isEncoding = (name: string): boolean => {
  try {
    return new TextDecoder(name).encoding !== ""
  } catch {
    return false
  }
}

/**
 * How many lines a text ends.
 *
 * @category inspection
 * @since 0.1.0
 */
export const lineBreaks = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0

/**
 * Decodes bytes as they come. The encoding is the one named, UTF-8 without a name, unless a byte order mark says which
 * it is; the mark itself is no part of the text.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeText = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  encoding = "utf-8"
): Stream.Stream<string, E | UnreadableFile> =>
  Stream.suspend(() => {
    let decoder: TextDecoder | undefined
    let held: Uint8Array = new Uint8Array(0)
    let line = 1
    const decode = (chunk: Uint8Array, last: boolean): Effect.Effect<string, UnreadableFile> => {
      if (decoder === undefined) {
        held = held.length === 0 ? chunk : new Uint8Array([...held, ...chunk])
        // The longest mark has three bytes.
        if (held.length < 3 && !last) return Effect.succeed("")
        const name = encodingByMark(held) ?? encoding
        if (!isEncoding(name)) {
          return Effect.fail(new UnreadableFile({ line, reason: `${JSON.stringify(name)} is the name of no encoding` }))
        }
        decoder = new TextDecoder(name, { fatal: true })
        chunk = held
      }
      try {
        const text = decoder.decode(chunk, { stream: !last })
        line += lineBreaks(text)
        return Effect.succeed(text)
      } catch {
        const reason = `soon after it come bytes that are not ${decoder.encoding}; say which encoding the file has`
        return Effect.fail(new UnreadableFile({ line, reason }))
      }
    }
    return bytes.pipe(
      Stream.mapEffect((chunk) => decode(chunk, false)),
      Stream.concat(Stream.fromEffect(Effect.suspend(() => decode(new Uint8Array(0), true))))
    )
  })
