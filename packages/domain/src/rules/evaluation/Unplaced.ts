/** Contacts with a value that a rule cannot compare, which it selects by no side. (docs/rules.md) */
import { type DateTime, Schema } from "effect"
import { answerField } from "../../values/OptionalField.ts"
import { wireRecord } from "../../values/WireRecord.ts"
import { exampleOf } from "../FieldUse.ts"
import { comparedAs, fieldKind, leavesOf, type Rule } from "../Rule.ts"
import { ruleJudge } from "./RuleEvaluator.ts"
import type { RuleSubject } from "../RuleFields.ts"

/** The contacts about which a rule cannot decide. */
export const Unplaced = wireRecord({
  /** Their number. */
  contacts: Schema.Int,
  /** A field whose value the rule cannot compare, as the rule names it. */
  field: Schema.String,
  /** What the value would have to be. */
  kind: Schema.Literals(["date", "number"]),
  /** The first such value, at most 100 characters of it. */
  example: Schema.String
}).annotate({ identifier: "Unplaced" })
export interface Unplaced extends Schema.Schema.Type<typeof Unplaced> {}

/** How many contacts a rule selects. */
export class ContactCount extends Schema.Opaque<ContactCount>()(
  wireRecord({
    /** The number of contacts. */
    count: Schema.Int,
    /** Those about which the rule cannot decide, if there are any and the service tells. */
    unplaced: answerField(Unplaced)
  }).annotate({ identifier: "ContactCount" })
) {}

/** Whether a value may be one that the rule cannot compare. Numbers and dates of the record never are. */
export const mayLeaveUnplaced = (rule: Rule): boolean =>
  leavesOf(rule).some(
    (leaf) =>
      leaf._tag !== "OnList" && comparedAs(leaf) !== undefined && ["custom", "text"].includes(fieldKind(leaf.field))
  )

/** Counts the contacts that a rule selects, and those about which it cannot decide. */
export const makeRuleCount = (rule: Rule, now: DateTime.DateTime) => {
  const verdictOf = ruleJudge(rule, now)
  let count = 0
  let unplaced: Unplaced | undefined
  return {
    add: (subject: RuleSubject): void => {
      const verdict = verdictOf(subject)
      if (verdict === true) count++
      else if (verdict !== false) {
        const { contacts, ...first } = unplaced ?? {
          contacts: 0,
          field: verdict.field,
          kind: verdict.kind,
          example: exampleOf(verdict.value())
        }
        unplaced = { ...first, contacts: contacts + 1 }
      }
    },
    result: (): ContactCount => (unplaced === undefined ? { count } : { count, unplaced })
  }
}

const kinds = { date: "a date such as 2024-01-31", number: "a number such as 12.5" }

/** Says which contacts a rule leaves out since it cannot compare a value of theirs. */
export const unplacedText = ({ contacts, example, field, kind }: Unplaced): string =>
  `The rule cannot compare a value of ${contacts === 1 ? "1 contact" : `${contacts.toLocaleString("en")} contacts`}, ` +
  `which it leaves out: ${JSON.stringify(field)} is ${JSON.stringify(example)}, which is not ${kinds[kind]}.`
