/**
 * The text of a rule, as it goes over the wire.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseRule } from "./RuleParser.ts"

/**
 * A text that is a valid rule, without a list of custom fields: any unknown
 * name is taken for that of a custom field.
 *
 * @category schemas
 * @since 0.1.0
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

/**
 * A text that is a valid rule.
 *
 * @category models
 * @since 0.1.0
 */
export type RuleText = typeof RuleText.Type
