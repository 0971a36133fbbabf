/**
 * The elements of a JSON array that comes in pieces, each as soon as it is whole. Each is read by `JsonParser.parse`, since its
 * names may be anything.
 */
import { JsonParser } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"

/**
 * The text is no JSON array, or not a whole one.
 */
export class NoJsonArray extends Schema.TaggedError<NoJsonArray>()("NoJsonArray", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** No element is as long as that, in UTF-16 code units. */
const longestElement = 16 * 1024 * 1024

/** What is no white space to JSON. */
const ink = /[^ \t\n\r]/

const noJsonArray = (reason: string) => Effect.fail(new NoJsonArray({ reason }))

class ElementReader {
  /** What was not given yet, from the beginning of an element on. */
  #text = ""
  /** So much of it was looked at. */
  #seen = 0
  #place: "Before" | "Within" | "Behind" = "Before"
  #depth = 0
  #inString = false
  #isEscaped = false
  /** Whether a comma stands before the text. */
  #isContinued = false

  read(piece: string): Effect.Effect<ReadonlyArray<unknown>, NoJsonArray> {
    this.#text += piece
    if (this.#place === "Before") {
      const start = this.#text.search(ink)
      if (start < 0) return Effect.succeed([])
      if (this.#text[start] !== "[") return noJsonArray("it is no JSON array")
      this.#text = this.#text.slice(start + 1)
      this.#place = "Within"
    }
    if (this.#place === "Within") return this.#elements()
    return this.#behind([])
  }

  readonly end: Effect.Effect<void, NoJsonArray> = Effect.suspend(() =>
    this.#place === "Behind" ? Effect.void : noJsonArray("it breaks off")
  )

  /** The elements that end in what was read. */
  #elements(): Effect.Effect<ReadonlyArray<unknown>, NoJsonArray> {
    const end = this.#scan()
    if (end < 0) {
      return this.#text.length > longestElement ? noJsonArray("one of its records has no end") : Effect.succeed([])
    }
    const text = this.#text.slice(0, end)
    this.#text = this.#text.slice(end + 1)
    this.#seen = Math.max(0, this.#seen - end - 1)
    let elements: unknown
    try {
      elements = JsonParser.parse(`[${text}]`)
    } catch {
      return noJsonArray("it is no JSON")
    }
    const lacksElement = !ink.test(text) && (this.#isContinued || this.#place === "Within")
    if (!Array.isArray(elements) || lacksElement) {
      return noJsonArray("it is no JSON")
    }
    this.#isContinued = true
    return this.#place === "Behind" ? this.#behind(elements) : Effect.succeed(elements)
  }

  #behind(elements: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<unknown>, NoJsonArray> {
    const isBlank = !ink.test(this.#text)
    this.#text = ""
    return isBlank ? Effect.succeed(elements) : noJsonArray("something stands behind its end")
  }

  /** Where the last comma between elements stands, or the end of the array; -1 where there is neither. */
  #scan(): number {
    const text = this.#text
    let last = -1
    for (let at = this.#seen; at < text.length; at++) {
      const sign = text[at]
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (sign === "\\") this.#isEscaped = true
        else if (sign === '"') this.#inString = false
      } else if (sign === '"') {
        this.#inString = true
      } else if (sign === "{" || sign === "[") {
        this.#depth++
      } else if (sign === "}" || sign === "]") {
        if (this.#depth > 0) {
          this.#depth--
        } else if (sign === "]") {
          this.#place = "Behind"
          return at
        }
      } else if (sign === "," && this.#depth === 0) {
        last = at
      }
    }
    this.#seen = text.length
    return last
  }
}

/**
 * Reads the array in UTF-8, in memory for one piece and one element.
 */
export const jsonElements = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<unknown, NoJsonArray | E, R> =>
  Stream.suspend(() => {
    const reader = new ElementReader()
    // Any other decoding would put replacement characters into somebody's name.
    const decoder = new TextDecoder("utf-8", { fatal: true })
    const decode = (piece?: Uint8Array) =>
      Effect.try({
        try: () => decoder.decode(piece, { stream: piece !== undefined }),
        catch: () => new NoJsonArray({ reason: "it is not UTF-8" })
      })
    const elements = content.pipe(
      Stream.mapEffect((piece) => Effect.flatMap(decode(piece), (text) => reader.read(text))),
      Stream.flattenIterable
    )
    return Stream.concat(elements, Stream.fromEffectDrain(Effect.andThen(reader.end, decode())))
  })
