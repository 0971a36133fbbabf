/**
 * Checks the text of a request before any value is built from it: its depth, its size, and that no object has a name
 * twice, of which `JSON.parse` silently keeps the last.
 */

import { endOfString } from "./JsonString.ts"

/** The maximum depth of objects and arrays within each other. */
export const maximumDepth = 64

/** An object with more names has them in a set. */
const fewNames = 64

const quote = 0x22
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** A hash of a name: its length and some of its characters, none from before the quote. */
const hashOf = (text: string, start: number, end: number): number =>
  ((((end - start) * 31 + text.charCodeAt(start + 1)) * 31 + text.charCodeAt((start + end) >> 1)) * 31 +
    text.charCodeAt(Math.max(start, end - 2))) *
    31 +
  text.charCodeAt(end - 1)

/** The name between two quotes; `undefined` if its escapes are none of JSON. */
const nameOf = (text: string, start: number, end: number): string | undefined => {
  const name = text.slice(start + 1, end)
  if (!name.includes("\\")) return name
  try {
    return String(JSON.parse(`"${name}"`))
  } catch {
    return undefined
  }
}

/** The names that the open objects have so far. Only names that look alike, and those of large objects, become strings. */
class OpenNames {
  readonly #text: string
  readonly #hasEscapes: boolean
  /** Where each name stands, and its hash; those of an inner object follow those of the outer one. */
  readonly #starts: Array<number> = []
  readonly #ends: Array<number> = []
  readonly #hashes: Array<number> = []
  #count = 0
  /** The first name of each open object or array, and its names as strings where they are needed. */
  readonly #first: Array<number> = []
  readonly #sets: Array<Set<string | undefined> | undefined> = []

  constructor(text: string) {
    this.#text = text
    this.#hasEscapes = text.includes("\\")
  }

  open(depth: number): void {
    this.#first[depth] = this.#count
    this.#sets[depth] = undefined
  }

  close(depth: number): void {
    this.#count = this.#first[depth] ?? 0
  }

  /** Adds a name to the innermost object, unless that has it already. */
  add(depth: number, start: number, end: number): boolean {
    const first = this.#first[depth] ?? 0
    const hash = hashOf(this.#text, start, end)
    if (
      this.#sets[depth] !== undefined ||
      this.#count - first >= fewNames ||
      this.#hasHash(first, hash) ||
      (this.#hasEscapes && this.#text.slice(start, end).includes("\\"))
    ) {
      return this.#addString(depth, first, start, end)
    }
    this.#starts[this.#count] = start
    this.#ends[this.#count] = end
    this.#hashes[this.#count++] = hash
    return true
  }

  #hasHash(first: number, hash: number): boolean {
    for (let index = first; index < this.#count; index++) if (this.#hashes[index] === hash) return true
    return false
  }

  #addString(depth: number, first: number, start: number, end: number): boolean {
    let set = this.#sets[depth]
    if (set === undefined) {
      set = this.#sets[depth] = new Set()
      for (let index = first; index < this.#count; index++) {
        set.add(nameOf(this.#text, this.#starts[index] ?? 0, this.#ends[index] ?? 0))
      }
    }
    const { size } = set
    return set.add(nameOf(this.#text, start, end)).size > size
  }
}

/**
 * What is wrong with a text of JSON, phrased to follow "Invalid body: "; `undefined` for one that can be parsed, or is
 * refused by the parser. It has at most `maximumValues` names in its objects and elements in its arrays; an empty object
 * or array counts as one more. Takes time by the length of the text. Quotes nothing of it.
 */
export const jsonIssue = (text: string, maximumValues: number): string | undefined => {
  const names = new OpenNames(text)
  /** Whether each open object or array is an object. */
  const areObjects: Array<boolean> = []
  let depth = 0
  let values = 0
  let isName = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (end === -1) return undefined
      if (isName && !names.add(depth, at, end)) {
        return `an object gives a name twice, the second time at character ${at + 1}`
      }
      isName = false
      at = end
    } else if (code === comma || code === openObject || code === openArray) {
      if (++values > maximumValues) return `it has more than ${maximumValues} names and elements`
      if (code !== comma) {
        if (++depth > maximumDepth) return `it is nested too deep; the limit is ${maximumDepth}`
        areObjects[depth] = code === openObject
        names.open(depth)
      }
      isName = areObjects[depth] ?? false
    } else if (code === closeObject || code === closeArray) {
      if (depth === 0) return undefined
      names.close(depth--)
      isName = false
    }
  }
  return undefined
}
