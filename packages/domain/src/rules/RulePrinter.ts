/** Writing rules. */
import type { Condition, Rule, Value } from "./Rule.ts"
import { formatDate } from "./RuleDate.ts"

/**
 * Writes a rule in its canonical form: one space between elements, keywords in
 * upper case, record fields and operators in lower case, texts in single
 * quotes, and parentheses only where they are needed. Parsing the result gives
 * the same rule again, as long as it is within the parser's limits: printing
 * can make a text longer, by the spaces and doubled quotes it adds.
 */
export const printRule = (rule: Rule): string => {
  switch (rule._tag) {
    case "All":
      return "All"
    case "And":
      return rule.terms.map(printTerm).join(" AND ")
    case "Or":
      return rule.terms.map(printRule).join(" OR ")
    case "Compare":
      return `${rule.field.name} ${rule.operator} ${printValue(rule.value)}`
    case "MonthDay":
      return `${rule.field.name} month-day ${quote(rule.monthDay)}`
    case "DaysFrom":
      return `daysfrom ${rule.field.name} ${rule.operator} ${rule.days}`
  }
}

const printTerm = (term: Condition): string => (term._tag === "Or" ? `(${printRule(term)})` : printRule(term))

const printValue = (value: Value): string => {
  switch (value._tag) {
    case "Text":
      return quote(value.text)
    case "Number":
      return String(value.number)
    case "Word":
      return value.word
    case "Date":
      return quote(formatDate(value.date))
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`
