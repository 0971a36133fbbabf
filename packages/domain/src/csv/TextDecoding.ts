/** Turns a file of any encoding into UTF-8 piece by piece, and fails for bytes that are not of that encoding. */
import { Result, Schema } from "effect"
import { TaggedError } from "../errors/TaggedError.ts"

/** The file as a whole cannot be read as contacts. */
export class UnreadableFile extends TaggedError<UnreadableFile>()("UnreadableFile", {
  /** The line at which reading ended, counted from 1. */
  line: Schema.Int,
  /** Why the file cannot be read, in words. */
  reason: Schema.String,
  /** The columns that are probably meant for fields of a contact, to be given as `columns`; null for one that is to be left out. */
  likelyFields: Schema.optionalKey(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  /** The number of lines above what is probably the header, to be given as `skipLines`. */
  skipLines: Schema.optionalKey(Schema.Int),
  /** Whether the first line probably has headings, to be given as `header`. */
  header: Schema.optionalKey(Schema.Boolean),
  /** The encoding that the file probably has, to be given as `encoding`. */
  encoding: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return `The file cannot be read as contacts: line ${this.line}: ${this.reason}.`
  }
}

/** The encoding of the byte order mark at the beginning of a file, which takes precedence over a mapping. */
export const encodingByMark = (bytes: Uint8Array): string | undefined => {
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
  /** The encoding that the file probably has. */
  readonly encoding?: string
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

/** The encodings that files without a mark have most often, as far as decoders know them. */
const usual = ["utf-8", "windows-1252", "windows-1250", "windows-1251", "shift_jis", "gb18030"]

/** What hardly stands in a text: control characters, symbols in words, words of two alphabets, many accents in a row. */
const oddities = [
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff]/g,
  /\p{L}[\p{S}\p{No}“”„]|[\p{S}\p{No}“”„]\p{L}/gu,
  /\p{Ll}\p{Lu}/gu,
  /\p{scx=Latin}[\p{scx=Cyrl}\p{scx=Han}\p{scx=Kana}]|[\p{scx=Cyrl}\p{scx=Han}\p{scx=Kana}]\p{scx=Latin}/gu,
  /[À-ɏ]{3,}/g,
  /[｡-ﾟ]+/g
]

const oddnessOf = (text: string): number => oddities.reduce((sum, oddity) => sum + (text.match(oddity)?.length ?? 0), 0)

const longestSample = 2048
const longestExample = 60

/** The first cell of a text that is more than ASCII. */
const exampleIn = (text: string): string =>
  (text.split(/[\r\n,;\t|]/).find((cell) => /[^\0-\x7f]/.test(cell)) ?? "")
    .replaceAll('"', "")
    .trim()
    .slice(0, longestExample)

/** The encoding that bytes have most probably, and a cell as it reads then. */
const likelyEncoding = (
  bytes: Uint8Array,
  tried: string
): { readonly name: string; readonly example: string } | undefined => {
  const from = bytes.findIndex((byte) => byte > 0x7f)
  const start = bytes.lastIndexOf(lineFeed, Math.max(0, from)) + 1
  const sample = bytes.subarray(start, start + longestSample)
  const readings = usual.flatMap((name) => {
    if (name === tried) return []
    try {
      // The sample may end within a character.
      const text = new TextDecoder(name, { fatal: true }).decode(sample, { stream: true })
      return [{ name, example: exampleIn(text), oddness: oddnessOf(text) }]
    } catch {
      return []
    }
  })
  return readings.reduce<(typeof readings)[number] | undefined>(
    (best, next) => (best === undefined || next.oddness < best.oddness ? next : best),
    undefined
  )
}

/** The encoding of two bytes a character that a file without a mark has, by the half of its first bytes that is 0. */
export const unmarkedEncoding = (bytes: Uint8Array): string | undefined => {
  const start = bytes.subarray(0, 512)
  if (encodingByMark(start) !== undefined) return undefined
  const zeros = [0, 0]
  start.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  })
  const [even = 0, odd = 0] = zeros
  // A file without text has as many in both halves.
  if (even === odd || even + odd < start.length / 4) return undefined
  return odd > even ? "utf-16le" : "utf-16be"
}

/**
 * Makes a function that gives each piece of a file as UTF-8 without byte order mark, or fails for invalid bytes, which
 * must not become replacement characters in a name. The first piece has the whole mark, and the last call has `last`.
 */
export const makeTextReader = (
  encoding = "utf-8"
): ((piece: Uint8Array, last: boolean) => Result.Result<Uint8Array, BrokenText>) => {
  const encoder = new TextEncoder()
  let decoder: TextDecoder | undefined
  return (piece, last) => {
    const bytes = piece
    if (decoder === undefined) {
      const marked = encodingByMark(piece)
      const name = marked ?? encoding
      if (!isEncoding(name)) {
        return Result.fail({ reason: `there is no encoding ${JSON.stringify(name)}`, before: nothing })
      }
      decoder = new TextDecoder(name, { fatal: true })
      if (marked === "utf-8") piece = piece.subarray(byteOrderMark)
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
      const before = decoder.encoding === "utf-8" ? readableLines(piece) : nothing
      const likely = likelyEncoding(piece.subarray(before.length), decoder.encoding)
      const reason = `soon after it come bytes that are not ${decoder.encoding}`
      if (likely === undefined) return Result.fail({ reason: `${reason}; say which encoding the file has`, before })
      const { example, name } = likely
      return Result.fail({
        reason: `${reason}; as ${name} a cell would read ${JSON.stringify(example)}`,
        encoding: name,
        before
      })
    }
  }
}
