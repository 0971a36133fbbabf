/** Parses the operators and literals of conditions, by the kind of their field. */
import * as Result from "effect/Result"
import * as Rule from "./Rule.ts"
import { isMonthDay, parseDate } from "./RuleDate.ts"
import { didYouMean, quoted } from "../values/DidYouMean.ts"
import type { InvalidRule } from "./RuleError.ts"
import { type FieldKind, meantField, recordFieldInfo } from "./RuleFields.ts"
import { type Advice, invalidRule, type Token } from "./RuleLexer.ts"

const everyOperator = [...Rule.comparisons, ...Rule.textOperators, "month-day"] as const

/** An operator as written between a field and a value. */
export type WrittenOperator = (typeof everyOperator)[number]

/** The operators that may be used with each kind of field. */
export const operatorsOf: Readonly<Record<FieldKind | "custom", ReadonlyArray<WrittenOperator>>> = {
  text: [...Rule.comparisons, ...Rule.textOperators],
  number: Rule.comparisons,
  date: [...Rule.comparisons, "month-day"],
  enumeration: ["=", "!="],
  custom: everyOperator
}

// Operators of other languages: the operator that is meant, and a hint.
const foreign: ReadonlyMap<string, readonly [needs: WrittenOperator, hint: string]> = new Map([
  ["==", ["=", "write ="]],
  ["===", ["=", "write ="]],
  ["<>", ["!=", "write !="]],
  ["!==", ["!=", "write !="]],
  ["=<", ["<=", "write <="]],
  ["=>", [">=", "write >="]],
  ["like", ["contains", "use contains, starts-with or ends-with"]],
  ["in", ["=", "join several = by OR"]],
  ["not", ["!=", "use != or not-contains"]],
  ["is", ["=", "use = '' for a field without a value"]],
  ["between", [">=", "join >= and <= by AND"]]
])

/** Where a word stands in place of an operator, it may belong to the name of a custom field. */
const severalWords = "a name that is not one word has quotes, as in 'plan name'"

/** Makes the parsers of operators and literals for one rule, with the errors that they report. */
export const operands = (rule: string) => {
  const fail = (token: Token, problem: string, advice?: Advice): Result.Result<never, InvalidRule> =>
    Result.fail(token.problem ?? invalidRule(rule, token, problem, advice))

  const operator = <O extends WrittenOperator>(
    token: Token,
    allowed: ReadonlyArray<O>,
    subject: string
  ): Result.Result<O, InvalidRule> => {
    const written = token.text.toLowerCase()
    const expected = allowed
    if (token.kind !== "word" && token.kind !== "operator")
      return fail(token, "an operator is missing here", { expected })
    const found = allowed.find((candidate) => candidate === written)
    if (found !== undefined) return Result.succeed(found)
    if (everyOperator.some((candidate) => candidate === written)) {
      return fail(token, `${written} does not apply to ${subject}`, { expected })
    }
    const [needs, remedy] = foreign.get(written) ?? []
    const isCustom = allowed.length === everyOperator.length
    const hint = allowed.some((candidate) => candidate === needs)
      ? remedy
      : (didYouMean(written, allowed) ?? (isCustom && token.kind === "word" ? severalWords : undefined))
    return fail(token, `unknown operator ${quoted(token.text)}`, { expected, hint })
  }

  const number = (token: Token): Result.Result<number, InvalidRule> => {
    if (token.kind !== "number") return fail(token, "a number is needed here", { expected: ["a number such as 25"] })
    const value = Rule.numberOf(token.text)
    if (value === undefined) {
      return fail(token, `${quoted(token.text)} is not a number`, { hint: "texts and dates are written in quotes" })
    }
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      return fail(token, `this number is too large; the limit is ${Number.MAX_SAFE_INTEGER}`)
    }
    return Result.succeed(value)
  }

  const days = (token: Token): Result.Result<number, InvalidRule> =>
    Result.flatMap(number(token), (value) =>
      Number.isInteger(value)
        ? Result.succeed(value)
        : fail(token, "days are counted whole", { expected: ["a whole number such as 30"] })
    )

  const text = (token: Token, hint?: string): Result.Result<Rule.Value, InvalidRule> => {
    if (token.kind === "text") return Result.succeed(Rule.text(token.text))
    const bare = token.kind === "word" || token.kind === "number"
    return fail(token, "a text in quotes is needed here", {
      expected: ["a text in quotes"],
      hint: hint ?? (bare && token.length <= 40 ? `write '${token.text}'` : undefined)
    })
  }

  const date = (token: Token): Result.Result<Rule.Value, InvalidRule> => {
    const expected = ["'2024-01-31'", "'2024-01-31T10:00:00Z'"]
    if (token.kind !== "text") return fail(token, "a date in quotes is needed here", { expected })
    const value = parseDate(token.text)
    return value === undefined
      ? fail(token, `${quoted(token.text)} is not a date that exists`, { expected })
      : Result.succeed(Rule.date(value))
  }

  const word = (token: Token, values: ReadonlyArray<string>): Result.Result<Rule.Value, InvalidRule> => {
    if (token.kind === "text") return Result.succeed(Rule.text(token.text))
    if (token.kind !== "word") return fail(token, "a value is needed here", { expected: values })
    const written = token.text.toLowerCase()
    const known = values.find((value) => value.toLowerCase() === written)
    if (known !== undefined) return Result.succeed(Rule.word(known))
    const suggestion = didYouMean(token.text, values)
    const hint = suggestion ?? "write a value that is not in the list in quotes"
    return fail(token, `unknown value ${quoted(token.text)}`, { expected: values, hint })
  }

  const value = (token: Token, field: Rule.Field, operator: Rule.Operator): Result.Result<Rule.Value, InvalidRule> => {
    // The empty text tests whether a field of any kind has a value.
    if (token.kind === "text" && token.text === "" && (operator === "=" || operator === "!=")) return text(token)
    if (field._tag === "CustomField") {
      const numeric = token.kind === "number" && Rule.comparisons.some((comparison) => comparison === operator)
      if (numeric) return Result.map(number(token), Rule.number)
      // An unquoted word suits an enumeration, so the field is probably misspelt rather than the value.
      const meant = token.kind === "word" ? meantField(field.name) : undefined
      return text(token, meant && `${quoted(field.name)} is taken for a custom field, ${meant}`)
    }
    const info = recordFieldInfo(field.name)
    switch (info.kind) {
      case "text":
        return text(token)
      case "number":
        return Result.map(number(token), Rule.number)
      case "date":
        return date(token)
      case "enumeration":
        return word(token, info.values)
    }
  }

  const monthDay = (token: Token): Result.Result<string, InvalidRule> =>
    token.kind === "text" && isMonthDay(token.text)
      ? Result.succeed(token.text)
      : fail(token, "a month and day in quotes are needed here", { expected: ["'MM-dd' such as '02-29'"] })

  return { fail, operator, days, text, value, monthDay }
}
