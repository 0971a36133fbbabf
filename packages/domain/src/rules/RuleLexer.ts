/** The tokens of a rule, and the error for a mistake at a place in it. */
import * as Result from "effect/Result"
import { quoted } from "../values/DidYouMean.ts"
import { InvalidRule } from "./RuleError.ts"

/** The maximum length of a rule, in UTF-16 units. */
export const maximumRuleLength = 16_384

/** A token and its place. The last one is `end`, or `unreadable` with a `problem` at the first invalid character. */
export interface Token {
  readonly kind: "word" | "number" | "text" | "operator" | "symbol" | "end" | "unreadable"
  readonly text: string
  readonly position: number
  readonly length: number
  readonly problem?: InvalidRule
}

/** What would have been right in place of a mistake, and the most likely remedy. */
export interface Advice {
  readonly expected?: ReadonlyArray<string> | undefined
  readonly hint?: string | undefined
}

/** Makes the error for a mistake at a place in a rule. */
export const invalidRule = (
  rule: string,
  place: Pick<Token, "position" | "length">,
  problem: string,
  { expected = [], hint }: Advice = {}
): InvalidRule =>
  new InvalidRule({
    rule: rule.slice(0, maximumRuleLength),
    position: place.position,
    length: place.length,
    problem,
    expected,
    ...(hint === undefined ? {} : { hint })
  })

// No two alternatives start with the same character, so reading is linear. Lazy, since letter classes compile slowly.
const makePattern = () =>
  new RegExp(
    [
      /[ \t\r\n]+/,
      /[\p{L}_][\p{L}\p{M}\p{N}_.-]*/u,
      /-?\d[\p{L}\p{N}_.:+-]*/u,
      /'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"/,
      /[=<>!&|]+/,
      /[()[\]]/
    ]
      .map((part) => part.source)
      .join("|"),
    "uy"
  )

let madePattern: RegExp | undefined

const unusable = /\0|\p{Cs}/u

/** The kind of a token by its first character, which is quicker than named groups of the pattern. */
const kindOf = (first: string): "space" | Token["kind"] => {
  if (" \t\r\n".includes(first)) return "space"
  if ("()[]".includes(first)) return "symbol"
  if ("=<>!&|".includes(first)) return "operator"
  if (first === "'" || first === '"') return "text"
  return "-0123456789".includes(first) ? "number" : "word"
}

/**
 * Splits a rule into tokens, each when its index is asked for: a parser that gives up early reads no further. An invalid
 * character ends them, since the parser may find an earlier mistake.
 */
export const tokenize = (rule: string): Result.Result<(index: number) => Token | undefined, InvalidRule> => {
  if (rule.length > maximumRuleLength) {
    const problem = `the rule is ${rule.length} characters long; the limit is ${maximumRuleLength}`
    return Result.fail(invalidRule(rule, { position: maximumRuleLength, length: 1 }, problem))
  }
  const bad = unusable.exec(rule)
  if (bad !== null) return Result.fail(unexpectedCharacter(rule, bad.index))
  const pattern = (madePattern ??= makePattern())
  const tokens: Array<Token> = []
  let position = 0
  /** Reads a token or a space, and says whether there is more. */
  const read = (): boolean => {
    if (position === rule.length) {
      tokens.push({ kind: "end", text: "", position, length: 1 })
      return false
    }
    pattern.lastIndex = position
    if (!pattern.test(rule)) {
      const problem = unexpectedCharacter(rule, position)
      tokens.push({ kind: "unreadable", text: "", position, length: problem.length, problem })
      return false
    }
    const raw = rule.slice(position, pattern.lastIndex)
    const kind = kindOf(raw.charAt(0))
    if (kind !== "space") {
      tokens.push({ kind, text: kind === "text" ? unquote(raw) : raw, position, length: raw.length })
    }
    position += raw.length
    return true
  }
  let hasMore = true
  return Result.succeed((index) => {
    while (hasMore && tokens.length <= index) hasMore = read()
    return tokens[index]
  })
}

const isWord = /^[\p{L}_][\p{L}\p{M}\p{N}_.-]*$/u

/** The words that are not names of fields. */
export const reservedWords: ReadonlySet<string> = new Set(["all", "and", "or", "not", "daysfrom"])

/** Whether a custom field of this name can be written without quotes, if no field of the record has the name. */
export const isBareName = (name: string): boolean => isWord.test(name) && !reservedWords.has(name.toLowerCase())

/** Writes a text as a literal. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`

const unquote = (literal: string): string => {
  const quote = literal.charAt(0)
  return literal.slice(1, -1).replaceAll(quote + quote, quote)
}

const unexpectedCharacter = (rule: string, position: number): InvalidRule => {
  const character = String.fromCodePoint(rule.codePointAt(position) ?? 0)
  const place = { position, length: character.length }
  if (character === "'" || character === '"') {
    return invalidRule(rule, place, "this quote is not closed", { hint: "a quote inside a text is doubled" })
  }
  const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")
  return invalidRule(rule, place, `unexpected character ${quoted(character)} (U+${code})`, {
    hint: /[‘’“”´`«»]/.test(character) ? "texts are written in straight quotes: '...'" : undefined
  })
}
