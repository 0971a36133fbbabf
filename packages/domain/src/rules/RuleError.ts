/** The error of a rule that cannot be parsed, whose message shows the place. */
import { Predicate, Schema } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { printable } from "../values/Characters.ts"
import { TaggedError } from "../errors/TaggedError.ts"

/** A rule that cannot be parsed; `position` and `length` locate the mistake in `rule`, in UTF-16 units from 0. */
export class InvalidRule extends TaggedError<InvalidRule>()("InvalidRule", {
  /** The whole rule. */
  rule: Schema.String,
  /** Where the mistake begins, in UTF-16 units from 0. */
  position: Schema.Int,
  /** How long the mistake is, in UTF-16 units. */
  length: Schema.Int,
  /** What is wrong. */
  problem: Schema.String,
  /** The most likely remedy, if there is one. */
  hint: Schema.optionalKey(Schema.String),
  /** What would have been right at this place. */
  expected: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return invalidRuleWords(this, "the rule")
  }
}

/** What is wrong with a rule, for people who call it by this name. */
export const invalidRuleWords = (
  { expected, hint, length, position, problem, rule }: Omit<InvalidRule, keyof Error>,
  name: string
): string => {
  const wrong = hint === undefined ? problem : `${problem}; ${hint}`
  const right = expected.length === 0 ? [] : [`  expected: ${expected.join(", ")}`]
  if (rule.trim() === "") return [`${name} is not valid: ${wrong}`, ...right].join("\n")
  const [line, carets] = excerpt(rule, position, length)
  return [`${name} is not valid`, `  ${line}`, `  ${carets} ${wrong}`, ...right].join("\n")
}

/** Refuses a value that is not a rule, for callers without type checks; the parser judges its text. */
export const ruleRefusal = (rule: unknown): InvalidInput | undefined =>
  typeof rule === "string" || (Predicate.hasProperty(rule, "text") && typeof rule.text === "string")
    ? undefined
    : new InvalidInput({ field: "rule", issue: "it is not a rule" })

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

const count = (text: string): number => Array.from(text).length
