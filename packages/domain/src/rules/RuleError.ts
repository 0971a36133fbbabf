/** What is wrong with a rule, and where. */
import * as Schema from "effect/Schema"
import { excerpt } from "./RuleExcerpt.ts"

/**
 * A rule that cannot be read. `position` and `length` are the place of the
 * mistake in `rule`, in UTF-16 units from 0; a rule above the length limit is
 * kept up to that limit only. `message` shows the mistake with a caret under
 * it, with control characters made visible and long rules cut around it.
 */
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
