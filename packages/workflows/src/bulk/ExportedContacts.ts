/** Reads the contacts of an export as JSON one at a time, in constant memory. */
import { Contact, TaggedError } from "@roster/domain"
import { JsonParser } from "@roster/domain/internal"
import { Effect, Schema, Stream } from "effect"
import { makeUtf8Decoder } from "./Utf8Decoder.ts"

/** The file is not an export of contacts as JSON, or not a complete one. */
export class UnreadableExport extends TaggedError<UnreadableExport>()("UnreadableExport", {
  /** Why it cannot be read, in words. */
  reason: Schema.String
}) {
  override get message(): string {
    return `This is not a whole export of contacts as JSON: ${this.reason}`
  }
}

const unreadable = (reason: string) => new UnreadableExport({ reason })

/** Maximum length of an element in UTF-16 code units, far more than any contact has. */
const longestElement = 16 * 1024 * 1024

/** A character that is not JSON white space. */
const nonSpace = /[^ \t\n\r]/

/** Reads a JSON array that arrives in pieces, and gives each element as soon as it is complete. */
const arrayReader = () => {
  /** The text after the last element that was read. */
  let text = ""
  /** The offset in it where the scan continues. */
  let scanned = 0
  let place: "Before" | "Inside" | "After" = "Before"
  let isEmpty = true
  let depth = 0
  let inString = false
  const structural = /["\\[\]{},]/g

  /** Finds the last comma between elements or the end of the array; -1 if the text has neither. */
  const scan = () => {
    let end = -1
    for (;;) {
      structural.lastIndex = scanned
      const at = structural.exec(text)?.index
      if (at === undefined) {
        scanned = Math.max(scanned, text.length)
        return { end, isClosed: false }
      }
      scanned = at + 1
      const sign = text[at]
      if (inString) {
        // The escaped character is skipped, even if it is in the next piece.
        if (sign === "\\") scanned++
        else if (sign === '"') inString = false
      } else if (sign === '"') {
        inString = true
      } else if (sign === "{" || sign === "[") {
        depth++
      } else if (sign === "," && depth === 0) {
        end = at
      } else if (sign === "]" && depth === 0) {
        return { end: at, isClosed: true }
      } else if ((sign === "}" || sign === "]") && depth > 0) {
        depth--
      }
    }
  }

  /** Uses `JsonParser`, since custom fields may have any name. */
  const parse = Effect.fnUntraced(function* (elements: string, mayBeEmpty: boolean) {
    const parsed = yield* Effect.try({
      try: () => JsonParser.parse(`[${elements}]`),
      catch: () => unreadable("it is not JSON")
    })
    const isMissing = !mayBeEmpty && !nonSpace.test(elements)
    return Array.isArray(parsed) && !isMissing ? parsed : yield* unreadable("it is not JSON")
  })

  const read = Effect.fnUntraced(function* (piece: string) {
    let elements: ReadonlyArray<unknown> = []
    text += piece
    if (place === "Before") {
      const start = text.search(nonSpace)
      if (start < 0) return elements
      if (text[start] !== "[") return yield* unreadable("it is not a JSON array")
      text = text.slice(start + 1)
      place = "Inside"
    }
    if (place === "Inside") {
      const { end, isClosed } = scan()
      if (end < 0) {
        return text.length > longestElement ? yield* unreadable("one of its records has no end") : elements
      }
      elements = yield* parse(text.slice(0, end), isClosed && isEmpty)
      isEmpty = false
      text = text.slice(end + 1)
      scanned -= end + 1
      if (isClosed) place = "After"
    }
    if (place === "After" && nonSpace.test(text)) return yield* unreadable("there is text after its end")
    return elements
  })

  const end = Effect.suspend(() => (place === "After" ? Effect.void : unreadable("it breaks off")))
  return { read, end }
}

const jsonElements = <E, R>(content: Stream.Stream<Uint8Array, E, R>) =>
  Stream.suspend(() => {
    const reader = arrayReader()
    const decode = makeUtf8Decoder(() => unreadable("it is not UTF-8"))
    return content.pipe(
      Stream.mapEffect((piece) => Effect.flatMap(decode(piece), reader.read)),
      Stream.flattenIterable,
      Stream.concat(Stream.fromEffectDrain(Effect.andThen(reader.end, decode())))
    )
  })

const decodeContacts = Schema.decodeUnknownEffect(Schema.NonEmptyArray(Contact))

/** The contacts of an export as JSON in UTF-8, in the order of the file. */
export const readExportedContacts = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Contact, UnreadableExport | E, R> =>
  jsonElements(content).pipe(
    Stream.chunks,
    Stream.mapEffect((part) => Effect.mapError(decodeContacts(part), ({ message }) => unreadable(message))),
    Stream.flattenArray
  )
