import * as Result from "effect/Result"
import { InvalidRule, quoted } from "./RuleError.ts"

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
      /(?<space>[ \t\r\n]+)/,
      /(?<word>[\p{L}_][\p{L}\p{M}\p{N}_.-]*)/u,
      /(?<number>-?\d[\p{L}\p{N}_.:+-]*)/u,
      /(?<text>'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*")/,
      /(?<operator>[=<>!&|]+)/,
      /(?<symbol>[()[\]])/
    ]
      .map((part) => part.source)
      .join("|"),
    "uy"
  )

let madePattern: RegExp | undefined

const unusable = /\0|\p{Cs}/u

/** Splits a rule into tokens. An invalid character ends them, since the parser may find an earlier mistake. */
export const tokenize = (rule: string): Result.Result<ReadonlyArray<Token>, InvalidRule> => {
  if (rule.length > maximumRuleLength) {
    const problem = `the rule is ${rule.length} characters long; the limit is ${maximumRuleLength}`
    return Result.fail(invalidRule(rule, { position: maximumRuleLength, length: 1 }, problem))
  }
  const bad = unusable.exec(rule)
  if (bad !== null) return Result.fail(unexpectedCharacter(rule, bad.index))
  const pattern = (madePattern ??= makePattern())
  const tokens: Array<Token> = []
  let position = 0
  while (position < rule.length) {
    pattern.lastIndex = position
    const match = pattern.exec(rule)
    if (match === null) {
      const problem = unexpectedCharacter(rule, position)
      tokens.push({ kind: "unreadable", text: "", position, length: problem.length, problem })
      return Result.succeed(tokens)
    }
    const raw = match[0]
    const token = { position, length: raw.length }
    const { word, number, text, operator, symbol } = match.groups ?? {}
    if (word !== undefined) tokens.push({ ...token, kind: "word", text: word })
    else if (number !== undefined) tokens.push({ ...token, kind: "number", text: number })
    else if (text !== undefined) tokens.push({ ...token, kind: "text", text: unquote(text) })
    else if (operator !== undefined) tokens.push({ ...token, kind: "operator", text: operator })
    else if (symbol !== undefined) tokens.push({ ...token, kind: "symbol", text: symbol })
    position += raw.length
  }
  tokens.push({ kind: "end", text: "", position: rule.length, length: 1 })
  return Result.succeed(tokens)
}

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
