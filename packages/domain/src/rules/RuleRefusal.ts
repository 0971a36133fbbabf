/** What can be no rule, as callers whom no compiler stopped hand it over. Whether a text is one, reading it says. */
import { Predicate } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"

export const ruleRefusal = (field: string, rule: unknown): InvalidInput | undefined =>
  typeof rule === "string" || (Predicate.hasProperty(rule, "text") && typeof rule.text === "string")
    ? undefined
    : new InvalidInput({ field, issue: "it is no rule" })
