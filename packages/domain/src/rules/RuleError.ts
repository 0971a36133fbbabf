import { Predicate, Schema } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"

/** A rule that cannot be parsed; `position` and `length` locate the mistake in `rule`, in UTF-16 units from 0. */
export class InvalidRule extends Schema.TaggedError<InvalidRule>()("InvalidRule", {
  rule: Schema.String,
  position: Schema.Int,
  length: Schema.Int,
  problem: Schema.String,
  hint: Schema.optionalKey(Schema.String),
  expected: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const problem = this.hint === undefined ? this.problem : `${this.problem}; ${this.hint}`
    const expected = this.expected.length === 0 ? [] : [`  expected: ${this.expected.join(", ")}`]
    if (this.rule.trim() === "") return [`the rule is not valid: ${problem}`, ...expected].join("\n")
    const [line, carets] = excerpt(this.rule, this.position, this.length)
    return ["the rule is not valid", `  ${line}`, `  ${carets} ${problem}`, ...expected].join("\n")
  }
}

/** Refuses a value that is not a rule, for callers without type checks; the parser judges its text. */
export const ruleRefusal = (field: string, rule: unknown): InvalidInput | undefined =>
  typeof rule === "string" || (Predicate.hasProperty(rule, "text") && typeof rule.text === "string")
    ? undefined
    : new InvalidInput({ field, issue: "it is no rule" })

const width = 100
const before = 50

/** The part of a rule around a place as one line of printable characters, and a line of carets to go under it. */
const excerpt = (rule: string, position: number, length: number): readonly [line: string, carets: string] => {
  const start = Math.max(0, position - before)
  const end = Math.min(rule.length, start + width)
  const marked = Math.min(end, position + length)
  const left = `${start > 0 ? "…" : ""}${printable(rule.slice(start, position))}`
  const middle = printable(rule.slice(position, marked))
  const right = `${printable(rule.slice(marked, end))}${end < rule.length ? "…" : ""}`
  return [`${left}${middle}${right}`, `${" ".repeat(count(left))}${"^".repeat(Math.max(1, count(middle)))}`]
}

/** Replaces every character that could move the cursor, colour the terminal or reorder the line by a visible one. */
const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd"
  })

/** Quotes a piece of a rule, cut to a readable length. */
export const quoted = (text: string): string => `"${printable(text.length > 40 ? `${text.slice(0, 40)}…` : text)}"`

const count = (text: string): number => Array.from(text).length

/** A hint that names the candidate nearest to a word, or `undefined` when none is near. */
export const didYouMean = (word: string, candidates: Iterable<string>): string | undefined => {
  const candidate = nearest(word, candidates)
  return candidate === undefined ? undefined : `did you mean ${quoted(candidate)}?`
}

// At most one letter in three may be wrong.
const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > 40) return undefined
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

// Levenshtein distance, one row at a time, where two swapped letters count as one mistake.
const editDistance = (left: string, right: string): number => {
  let before: ReadonlyArray<number> = []
  let row = Array.from({ length: right.length + 1 }, (_, j) => j)
  for (let i = 1; i <= left.length; i++) {
    let cell = i
    const next = [cell]
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      const swapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity
      cell = Math.min(replaced, (row[j] ?? 0) + 1, cell + 1, swapped)
      next.push(cell)
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}
