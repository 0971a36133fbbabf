/** The parser of rules, with its grammar and its bounds on depth and conditions. */
import type * as Arr from "effect/Array"
import * as Result from "effect/Result"
import { contactFields } from "../contacts/ContactFieldTable.ts"
import * as Rule from "./Rule.ts"
import { didYouMean, quoted } from "../values/DidYouMean.ts"
import type { InvalidRule } from "./RuleError.ts"
import { isRecordFieldName, meantField, recordFieldNames } from "./RuleFields.ts"
import { operands, operatorsOf } from "./RuleOperandParser.ts"
import { requireFields } from "../errors/KnownFields.ts"
import { fieldsOf } from "../values/UnknownNames.ts"
import { isBareName, reservedWords, type Token, tokenize } from "./RuleLexer.ts"

/** The deepest nesting of parentheses that is read. */
export const maximumRuleDepth = 100

/** The largest number of conditions that one rule may hold. */
export const maximumRuleConditions = 1000

/** Options of `parseRule`. Unknown names are errors when the custom fields are given, and custom fields otherwise. */
export interface ParseRuleOptions {
  /** The names of the custom fields that there are (default: every unknown name is one). */
  readonly customFields?: Iterable<string> | undefined
}

const optionFields = fieldsOf<ParseRuleOptions>("the parser of rules", { customFields: true })

const conditionStart = ["a condition such as status = Engaged", "("]

/**
 * Parses a rule. A blank text is an error; it never selects every contact. Throws `InvalidInput` for an unknown option.
 *
 * ```
 * rule := 'All' | or      or := and ('OR' and)*      and := prim ('AND' prim)*      prim := '(' or ')' | cond
 * cond := field op value | field 'month-day' text | 'daysfrom' field cmp number | 'on-list' text | 'not-on-list' text
 * field := name | text
 * ```
 *
 * Keywords, operators and field names are case-insensitive, white space is free, and `daysfrom[field]` may have brackets.
 * The words All, AND, OR, NOT and daysfrom are reserved. A custom field can be named in quotes, as `'plan name' =
 * 'gold'`; it has to be if its name is one of these words, or not one word of letters, digits, `_`, `.` and `-`.
 */
export const parseRule = (text: string, options: ParseRuleOptions = {}): Result.Result<Rule.Rule, InvalidRule> => {
  requireFields(optionFields, options)
  if (options.customFields === undefined && text === last?.text) return Result.succeed(last.rule)
  return Result.flatMap(tokenize(text), (tokenAt) => {
    const parsed = parseTokens(text, tokenAt, options)
    if (options.customFields === undefined && Result.isSuccess(parsed)) last = { text, rule: parsed.success }
    return parsed
  })
}

/** The last valid rule: a call parses its rule where it arrives, as a `RuleText`, and where it is used. */
let last: { readonly text: string; readonly rule: Rule.Rule } | undefined

const parseTokens = (
  rule: string,
  tokenAt: (index: number) => Token | undefined,
  options: ParseRuleOptions
): Result.Result<Rule.Rule, InvalidRule> => {
  const { fail, operator, days, text, value, monthDay } = operands(rule)
  const customFields = options.customFields === undefined ? undefined : Array.from(options.customFields)
  const customNames = customFields && new Set(customFields.map(Rule.foldText))
  const end: Token = { kind: "end", text: "", position: rule.length, length: 1 }
  let index = 0
  let conditions = 0

  const peek = (): Token => tokenAt(index) ?? end
  const next = (): Token => {
    const token = peek()
    index++
    return token
  }
  const accept = (kind: Token["kind"], lowerCase: string): boolean => {
    const token = peek()
    const accepted = token.kind === kind && token.text.toLowerCase() === lowerCase
    if (accepted) index++
    return accepted
  }

  const whole = (): Result.Result<Rule.Rule, InvalidRule> =>
    Result.gen(function* () {
      if (peek().kind === "end") {
        return yield* fail(peek(), "it is empty", { expected: ["a condition", "All for every contact"] })
      }
      if (tokenAt(1)?.kind === "end" && accept("word", "all")) return Rule.all
      const condition = yield* disjunction(0)
      const rest = peek()
      return rest.kind === "end" ? condition : yield* unexpected(rest, ["AND", "OR", "the end of the rule"])
    })

  const disjunction = (depth: number): Result.Result<Rule.Condition, InvalidRule> =>
    Result.gen(function* () {
      const terms: Arr.NonEmptyArray<Rule.Condition> = [yield* conjunction(depth)]
      while (accept("word", "or")) terms.push(yield* conjunction(depth))
      return Rule.or(terms)
    })

  const conjunction = (depth: number): Result.Result<Rule.Condition, InvalidRule> =>
    Result.gen(function* () {
      const terms: Arr.NonEmptyArray<Rule.Condition> = [yield* primary(depth)]
      while (accept("word", "and")) terms.push(yield* primary(depth))
      return Rule.and(terms)
    })

  const primary = (depth: number): Result.Result<Rule.Condition, InvalidRule> =>
    Result.gen(function* () {
      const token = peek()
      if (!accept("symbol", "(")) return yield* condition(next())
      if (depth === maximumRuleDepth) {
        return yield* fail(token, `parentheses are nested too deep; the limit is ${maximumRuleDepth}`)
      }
      const inner = yield* disjunction(depth + 1)
      const close = peek()
      if (accept("symbol", ")")) return inner
      if (close.kind !== "end") return yield* unexpected(close, ["AND", "OR", ")"])
      return yield* fail(token, "this parenthesis is not closed", { expected: [")"] })
    })

  const condition = (token: Token): Result.Result<Rule.Condition, InvalidRule> =>
    Result.gen(function* () {
      conditions++
      if (conditions > maximumRuleConditions) {
        return yield* fail(token, `the rule has too many conditions; the limit is ${maximumRuleConditions}`)
      }
      if (token.kind === "word" && token.text.toLowerCase() === "daysfrom") return yield* daysFrom()
      // Before an operator it is a custom field of this name.
      const isOn = token.kind === "word" ? listWords.get(token.text.toLowerCase()) : undefined
      if (isOn !== undefined && peek().kind !== "operator" && !isOperatorWord(peek())) {
        const list = yield* text(next(), "write the name of a list, as in on-list 'Newsletter'")
        return Rule.onList(list._tag === "Text" ? list.text : "", isOn)
      }
      const field = yield* fieldOf(token)
      const kind = Rule.fieldKind(field)
      const written = yield* operator(next(), operatorsOf[kind], `${field.name}, ${described[kind]}`)
      if (written === "month-day") return Rule.monthDay(field, yield* monthDay(next()))
      return Rule.compare(field, written, yield* value(next(), field, written))
    })

  const daysFrom = (): Result.Result<Rule.Condition, InvalidRule> =>
    Result.gen(function* () {
      const bracket = accept("symbol", "[")
      const token = next()
      const field = yield* fieldOf(token)
      const kind = Rule.fieldKind(field)
      if (kind !== "date" && kind !== "custom") {
        return yield* fail(token, `daysfrom does not apply to ${field.name}, ${described[kind]}`, {
          expected: dateFields
        })
      }
      if (bracket && !accept("symbol", "]"))
        return yield* fail(peek(), "the bracket is not closed", { expected: ["]"] })
      const comparison = yield* operator(next(), Rule.comparisons, "daysfrom, a number of days")
      return Rule.daysFrom(field, comparison, yield* days(next()))
    })

  const fieldOf = (token: Token): Result.Result<Rule.Field, InvalidRule> => {
    const name = token.text.toLowerCase()
    if (token.kind === "text") {
      if (name.trim() === "") return fail(token, "the name of a field is missing here", { expected: conditionStart })
      // A custom field cannot have the name of a stored field, so this would be a condition about nobody.
      if (Object.hasOwn(contactFields, name)) {
        return fail(token, `${quoted(token.text)} is not a custom field`, { hint: "write it without quotes" })
      }
    } else {
      if (token.kind !== "word" || reservedWords.has(name)) return noField(token)
      if (isRecordFieldName(name)) return Result.succeed(Rule.recordField(name))
    }
    if (customNames === undefined || customNames.has(Rule.foldText(token.text))) {
      return Result.succeed(Rule.customField(token.text))
    }
    return fail(token, `unknown field ${quoted(token.text)}`, {
      expected: [...recordFieldNames, "a custom field"],
      hint: didYouMean(token.text, [...recordFieldNames, ...(customFields ?? [])])
    })
  }

  const noField = (token: Token): Result.Result<never, InvalidRule> => {
    const expected = conditionStart
    if (token.kind === "end") return fail(token, "the rule ends where a condition is missing", { expected })
    if (token.kind !== "word") return fail(token, "a condition is missing here", { expected })
    switch (token.text.toLowerCase()) {
      case "all":
        return fail(token, "All stands alone: nothing may come before or after it")
      case "not":
        return fail(token, "there is no NOT", { hint: "use != or not-contains" })
      default:
        return fail(token, `a condition is missing before ${token.text.toUpperCase()}`, { expected })
    }
  }

  const unexpected = (token: Token, expected: ReadonlyArray<string>): Result.Result<never, InvalidRule> => {
    const written = rule.slice(token.position, token.position + token.length)
    if (written === ")") return fail(token, "this parenthesis was never opened", { expected })
    const hint = written === "&&" ? "write AND" : written === "||" ? "write OR" : didYouMean(written, ["AND", "OR"])
    return fail(token, `unexpected ${quoted(written)}`, { expected, hint })
  }

  return whole()
}

/** The words before the name of a list, and whether the contact has to be on it. */
const listWords: ReadonlyMap<string, boolean> = new Map([
  ["on-list", true],
  ["not-on-list", false]
])

const isOperatorWord = ({ kind, text }: Token): boolean =>
  kind === "word" && operatorsOf.custom.some((operator) => operator === text.toLowerCase())

const described = {
  text: "a text",
  number: "a number",
  date: "a date",
  enumeration: "a fixed list of values",
  custom: "a custom field"
} as const

const dateFields = recordFieldNames.filter((name) => Rule.fieldKind(Rule.recordField(name)) === "date")

/** The names of the custom fields of a rule, each once. */
export const customFieldsOf = (rule: Rule.Rule): ReadonlyArray<string> => [
  ...new Set(Rule.fieldsOf(rule).flatMap((field) => (field._tag === "CustomField" ? [field.name] : [])))
]

/** Hints at custom fields that may be misspelt record fields: `stauts != 'Active'` selects nearly every contact. */
export const fieldHints = (rule: Rule.Rule): ReadonlyArray<string> =>
  customFieldsOf(rule)
    .filter(isBareName)
    .flatMap((name) => {
      const question = meantField(name)
      return question === undefined ? [] : [`The rule takes ${quoted(name)} for a custom field; ${question}`]
    })
