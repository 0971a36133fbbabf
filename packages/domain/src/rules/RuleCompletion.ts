/** What may be written next at a place in a rule: fields with their counts, operators of their kind, and values. */
import { foldText } from "./Rule.ts"
import { isRecordFieldName, recordFieldInfo, recordFieldNames } from "./RuleFields.ts"
import type { FieldsInUse, FieldUse } from "./FieldUse.ts"
import { isBareName, quoteText, type Token, tokenize } from "./RuleLexer.ts"
import { operatorsOf } from "./RuleOperandParser.ts"

/** A text that may be written. */
export interface RuleSuggestion {
  /** What is written in place of the word that was begun, quotes included. */
  readonly text: string
  /** How many contacts have the field; absent where that says nothing or is not known. */
  readonly contacts?: number | undefined
}

/** What may be written at a place in a rule. */
export interface RuleCompletions {
  /** Where the word that was begun starts, in UTF-16 units. */
  readonly from: number
  /** Whether fields, operators, values or joining words go here; `end` behind `All`, which stands alone. */
  readonly kind: "field" | "operator" | "value" | "join" | "end"
  /** What may stand there, the likeliest first. */
  readonly suggestions: ReadonlyArray<RuleSuggestion>
}

/** Maximum number of suggestions at one place. */
export const maximumSuggestions = 50

interface Written {
  readonly tokens: ReadonlyArray<Token>
  /** Where the word that was begun starts, and its text without an opening quote. */
  readonly from: number
  readonly begun: string
}

/** The whole tokens before a place, and the word that ends there. */
const writtenBefore = (text: string): Written => {
  const tokens: Array<Token> = []
  const read = tokenize(text)
  if (read._tag === "Success") {
    for (let index = 0; ; index++) {
      const token = read.success(index)
      if (token === undefined || token.kind === "end") break
      if (token.kind === "unreadable") {
        // A quote that is not closed yet.
        return { tokens, from: token.position, begun: text.slice(token.position).replace(/^['"]/, "") }
      }
      tokens.push(token)
    }
  }
  const last = tokens.at(-1)
  const isBegun =
    last !== undefined && last.position + last.length === text.length && /^(?:word|number|operator)$/.test(last.kind)
  return isBegun
    ? { tokens: tokens.slice(0, -1), from: last.position, begun: last.text }
    : { tokens, from: text.length, begun: "" }
}

/** The place that the tokens lead to, and the field of the condition there. */
const placeAfter = (
  tokens: ReadonlyArray<Token>
): { readonly kind: RuleCompletions["kind"]; readonly field: string } => {
  let kind: RuleCompletions["kind"] = "field"
  let field = ""
  for (const { kind: token, text } of tokens) {
    if (token === "symbol") {
      // Brackets of `daysfrom[field]` stand around a field.
      if (text === "(") kind = "field"
      else if (text === ")") kind = "join"
    } else if (kind === "field") {
      if (/^all$/i.test(text) && token === "word") kind = "end"
      else if (token === "word" && isListWord(text)) {
        field = text
        kind = "value"
      } else if (token !== "word" || !/^(?:not|daysfrom)$/i.test(text)) {
        field = text
        kind = "operator"
      }
    } else if (kind === "operator") kind = "value"
    else if (kind === "value") kind = "join"
    else if (kind === "join") kind = "field"
  }
  return { kind, field }
}

/** Whether a word stands before the name of a list. */
const isListWord = (text: string): boolean => /^(?:not-)?on-list$/i.test(text)

const fieldText = (name: string): string =>
  isRecordFieldName(name) || (isBareName(name) && !isRecordFieldName(name.toLowerCase())) ? name : quoteText(name)

const fieldsOf = (inUse: FieldsInUse | undefined): ReadonlyArray<RuleSuggestion> => {
  const counts = new Map(inUse?.fields.map((field) => [foldText(field.name), field.contacts]))
  const custom = inUse?.fields.filter(({ isCustom }) => isCustom) ?? []
  return [
    ...recordFieldNames.map((name) => ({ text: name, contacts: counts.get(foldText(name)) })),
    ...custom.map(({ contacts, name }) => ({ text: fieldText(name), contacts }))
  ]
}

const useOf = (inUse: FieldsInUse | undefined, field: string): FieldUse | undefined =>
  inUse?.fields.find(({ name }) => foldText(name) === foldText(field))

const operatorsFor = (field: string): ReadonlyArray<RuleSuggestion> => {
  const name = field.toLowerCase()
  const kind = isRecordFieldName(name) ? recordFieldInfo(name).kind : "custom"
  return operatorsOf[kind].map((text) => ({ text }))
}

const valuesFor = (
  inUse: FieldsInUse | undefined,
  field: string,
  lists: Iterable<string>
): ReadonlyArray<RuleSuggestion> => {
  if (isListWord(field)) return Array.from(lists, (list) => ({ text: quoteText(list) }))
  const name = field.toLowerCase()
  const info = isRecordFieldName(name) ? recordFieldInfo(name) : undefined
  if (info?.kind === "enumeration") return info.values.map((text) => ({ text }))
  const examples = useOf(inUse, field)?.examples ?? []
  const isBare = info?.kind === "number" || info?.kind === "date"
  return examples.map((text) => ({ text: isBare ? text : quoteText(text) }))
}

const joins: ReadonlyArray<RuleSuggestion> = [{ text: "AND" }, { text: "OR" }]

/** Whether a suggestion goes on from what was begun: those that begin with it come before those that contain it. */
const rank = (suggestion: string, begun: string): number => {
  const place = foldText(suggestion.replace(/^['"]/, "")).indexOf(foldText(begun))
  return place < 0 ? 2 : Math.min(place, 1)
}

/**
 * What may be written at a place in a rule, as far as one has written it. `inUse` gives the custom fields, counts and examples
 * of values, and `lists` the names of lists: without them no condition about lists is suggested.
 */
export const completeRule = (
  rule: string,
  caret: number,
  inUse?: FieldsInUse,
  lists: ReadonlyArray<string> = []
): RuleCompletions => {
  const { begun, from, tokens } = writtenBefore(rule.slice(0, caret))
  const { field, kind } = placeAfter(tokens)
  const all = {
    field: () => [
      ...fieldsOf(inUse),
      ...(lists.length === 0 ? [] : [{ text: "on-list" }, { text: "not-on-list" }]),
      ...(tokens.length === 0 ? [{ text: "All" }] : [])
    ],
    operator: () => operatorsFor(field),
    value: () => valuesFor(inUse, field, lists),
    join: () => joins,
    end: () => []
  }[kind]()
  const ranked = all.map((suggestion) => ({ suggestion, rank: rank(suggestion.text, begun) }))
  const suggestions = ranked
    .filter(({ rank }) => rank < 2)
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, maximumSuggestions)
    .map(({ suggestion }) => suggestion)
  return { from, kind, suggestions }
}
