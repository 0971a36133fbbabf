/** Rules as trees, and as the texts that services take. */
import { RuleText } from "./rules/RuleText.ts"

export * from "./rules/Rule.ts"
export { printRule as print } from "./rules/RuleText.ts"

/** Checks the text of a rule. */
export const fromText = RuleText.fromText
