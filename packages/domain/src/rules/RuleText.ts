/**
 * Rules as texts: checked ones, raw ones for a service that knows more of the language, and the printer of parsed
 * ones.
 */
import * as Data from "effect/Data"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { fromTextBy } from "../errors/Constructors.ts"
import { printUnchecked, type Rule } from "./Rule.ts"
import type { InvalidRule } from "./RuleError.ts"
import { parseRule } from "./RuleParser.ts"
import { invalidRule } from "./RuleLexer.ts"

const whyInvalid = (text: unknown): InvalidRule | undefined =>
  typeof text === "string"
    ? Result.match(parseRule(text), { onSuccess: () => undefined, onFailure: (error) => error })
    : invalidRule("", { position: 0, length: 1 }, "it is not a text")

/**
 * A text that is a valid rule, in which any unknown name is a custom field. `fromText` fails and `make` throws with an
 * `InvalidRule`, which points at the mistake.
 */
export const RuleText = fromTextBy(
  Schema.String.check(
    Schema.makeFilter((text: string) => whyInvalid(text)?.message, {
      expected: "a rule",
      arbitraryConstraint: { patterns: [{ source: "^(All|firstname (=|contains) '[A-Za-z]{0,8}')$", flags: "" }] }
    })
  ).pipe(Schema.brand("RuleText")),
  (_, text) => whyInvalid(text) ?? invalidRule("", { position: 0, length: 1 }, "it is not a rule")
)
export type RuleText = typeof RuleText.Type

/**
 * Prints a rule in its canonical form. Throws `InvalidRule` for a tree that no text stands for: with a field whose name
 * is not one word, or beyond the limits of the parser.
 */
export const printRule = (rule: Rule): RuleText => {
  const text = RuleText.make(printUnchecked(rule))
  if (Equal.equals(Result.getOrThrow(parseRule(text)), rule)) return text
  throw invalidRule(text, { position: 0, length: text.length }, "it was made of parts that read as another rule")
}

/** An unparsed rule, for a service that knows more of the language than this version. `rawRule` makes it. */
export class RawRule extends Data.TaggedClass("RawRule")<{
  /** The text, which Roster sends as it is. */
  readonly text: string
}> {}

/** A rule that selects contacts: a text, which is checked, or one for the service alone. */
export type ContactRule = string | RawRule

/** Makes an unparsed rule. A blank text is refused, since a service might read it as "every contact". */
export const rawRule = (text: string): Result.Result<RawRule, InvalidRule> =>
  text.trim() === ""
    ? Result.fail(invalidRule(text, { position: 0, length: 1 }, "it is empty", { expected: ["a rule of the service"] }))
    : Result.succeed(new RawRule({ text }))

/** The text of a rule, parsed or not. */
export const ruleSource = (rule: ContactRule): string => (typeof rule === "string" ? rule : rule.text)

/** The text of a rule, checked again before it is sent, for callers without type checks. */
export const checkRule = (rule: ContactRule): Result.Result<string, InvalidRule> =>
  typeof rule === "string" ? Result.map(parseRule(rule), () => rule) : Result.map(rawRule(rule.text), ruleSource)
