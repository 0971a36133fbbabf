/** The text of a rule, as it goes over the wire: one that was read here, or one that is another service's to read. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { InvalidRule } from "./RuleError.ts"
import { parseRule } from "./RuleParser.ts"
import { invalidRule } from "./RuleLexer.ts"

/**
 * A text that is a valid rule, without a list of custom fields: any unknown
 * name is taken for that of a custom field.
 */
export const RuleText = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      Result.match(parseRule(text), { onSuccess: () => undefined, onFailure: (error) => error.message }),
    {
      expected: "a rule",
      arbitraryConstraint: { patterns: [{ source: "^(All|firstname (=|contains) '[A-Za-z]{0,8}')$", flags: "" }] }
    }
  )
).pipe(Schema.brand("RuleText"))

/** A text that is a valid rule. */
export type RuleText = typeof RuleText.Type

/**
 * A rule that nobody here reads: a service may know more of the language than
 * this one, and says itself what it does not understand. `rawRule` makes it.
 */
export class RawRule extends Data.TaggedClass("RawRule")<{ readonly text: string }> {}

/** A rule of either kind, where contacts are selected. */
export type ContactRule = RuleText | RawRule

/**
 * Takes a text for a rule unread. Blank texts are refused all the same: some
 * service would read one as "every contact".
 */
export const rawRule = (text: string): Result.Result<RawRule, InvalidRule> =>
  text.trim() === ""
    ? Result.fail(invalidRule(text, { position: 0, length: 1 }, "it is empty", { expected: ["a rule of the service"] }))
    : Result.succeed(new RawRule({ text }))

/** What a rule of either kind says. */
export const ruleSource = (rule: ContactRule): string => (typeof rule === "string" ? rule : rule.text)

/**
 * What a rule says, checked once more before it is sent, for callers whom no
 * compiler stopped: one that is blank, or for which nobody answers, selects
 * nobody knows whom.
 */
export const checkRule = (rule: ContactRule): Result.Result<string, InvalidRule> =>
  typeof rule === "string" ? Result.map(parseRule(rule), () => rule) : Result.map(rawRule(rule.text), ruleSource)
