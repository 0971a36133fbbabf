/**
 * Checks the text of a request before any value is built from it: its depth, its size, and that no object has a name
 * twice, of which `JSON.parse` silently keeps the last.
 */

import { maximumNames } from "./FieldNames.ts"
import { endOfString } from "./JsonString.ts"

/** The maximum depth of objects and arrays within each other. */
export const maximumDepth = 64

const quote = 0x22
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

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

/** The length of a part in UTF-16 units, which takes some milliseconds to check or to parse. */
const partLength = 256 * 1024

/** The maximum length of an element of an array, in UTF-16 units: what it is cut at has elements as a whole. */
const maximumElement = 1024 * 1024

/** The maximum number of escaped characters outside of arrays. A million takes the parser 30 ms. */
export const maximumEscapes = 1_000_000

/** The refusal of a text with more of them. */
export const tooManyEscapes = `it has more than ${maximumEscapes} characters that JSON escapes`

/** Whether a text has more than `maximumEscapes`. */
export function* hasManyEscapes(text: string): Generator<void, boolean> {
  let count = 0
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at + 2)) {
    if (++count > maximumEscapes) return true
    if (count % partLength === 0) yield
  }
  return false
}

/** What a check tells of a text of JSON. */
export interface CheckedJson {
  /** What is wrong, phrased to follow "Invalid body: ". It quotes nothing of the text. */
  readonly issue?: string
  /** Where the commas stand that part a long array into pieces. */
  readonly cuts: ReadonlyArray<number>
}

/**
 * Checks a text of JSON, part by part. Without an issue it can be parsed, or is refused by the parser. It has at most
 * `maximumValues` names in its objects and elements in its arrays, and `maximumNames` in one object; an empty object or
 * array counts as one more.
 */
export function* checkJson(text: string, maximumValues: number): Generator<void, CheckedJson> {
  const cuts: Array<number> = []
  const issue = yield* findIssue(text, maximumValues, cuts)
  return issue === undefined ? { cuts } : { issue, cuts: [] }
}

const tooLong = `one of its elements is longer than ${maximumElement} characters`

function* findIssue(text: string, maximumValues: number, cuts: Array<number>): Generator<void, string | undefined> {
  const isArray = /^\s*\[/.test(text)
  if (!isArray && (yield* hasManyEscapes(text))) return tooManyEscapes
  let cut = 0
  let element = 0
  let pause = partLength
  /** The names that each open object has so far; none for an array. */
  const names: Array<Set<string | undefined> | undefined> = []
  let depth = 0
  let values = 0
  let isName = false
  for (let at = 0; at < text.length; at++) {
    if (at >= pause) {
      yield
      pause = at + partLength
    }
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      if (end === -1) return undefined
      // Refused before the name is parsed.
      if (isArray && end - element > maximumElement) return tooLong
      if (isName) {
        const namesOfObject = names[depth]
        const name = nameOf(text, at, end)
        if (namesOfObject?.has(name) === true)
          return `an object gives a name twice, the second time at character ${at + 1}`
        if (namesOfObject?.size === maximumNames) return `an object in it has more than ${maximumNames} names`
        namesOfObject?.add(name)
      }
      isName = false
      at = end
    } else if (code === comma || code === openObject || code === openArray) {
      if (++values > maximumValues) return `it has more than ${maximumValues} names and elements`
      if (code === comma) {
        if (isArray && depth === 1) {
          if (at - element > maximumElement) return tooLong
          element = at
          if (at - cut >= partLength) cuts.push((cut = at))
        }
      } else {
        if (++depth > maximumDepth) return `it is nested too deep; the limit is ${maximumDepth}`
        names[depth] = code === openObject ? new Set() : undefined
      }
      isName = names[depth] !== undefined
    } else if (code === closeObject || code === closeArray) {
      if (depth === 0) return undefined
      depth--
      if (isArray && depth === 0 && at - element > maximumElement) return tooLong
      isName = false
    }
  }
  return undefined
}
