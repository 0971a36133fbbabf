/**
 * What a person means who types a text to find contacts: one address or several, words of a name, or a rule. A rule with a
 * mistake stays a rule, since as words it would select nobody and say nothing.
 */
import * as Arr from "effect/Array"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Rule from "../rules/Rule.ts"
import { isRecordFieldName } from "../rules/RuleFields.ts"
import { parseRule } from "../rules/RuleParser.ts"
import { isSavedRule } from "../saved/SavedRule.ts"
import { readAddressList } from "./AddressList.ts"
import { conditionsOf, filterOf, wordCondition } from "./RuleFilters.ts"

/** What a text means. */
export type SearchText =
  /** Nothing is written: all contacts. */
  | { readonly _tag: "Everyone" }
  /** One address, without the name or notation that it was written with. */
  | { readonly _tag: "Address"; readonly email: string }
  /** Several addresses and nothing else, as they are written. */
  | { readonly _tag: "Addresses"; readonly text: string }
  /** Words, each of which a contact has in the address, the first or the last name, and the rule that says so. */
  | { readonly _tag: "Words"; readonly words: ReadonlyArray<string>; readonly rule: string }
  /** A rule or the name of a saved one, which may have mistakes. */
  | { readonly _tag: "Rule"; readonly text: string }

/** Beyond this a text is no search of a person. */
const longestWords = 500

/** A sign within a word that is none of a rule: O'Hara, and the particles of Dutch names, as in Sophie in 't Veld. */
const inName = /(?<=[\p{L}\p{M}\p{N}])['’`´](?=\p{L})|(?<![\p{L}\p{N}])['’][stn](?![\p{L}\p{N}])/gu

const signs = /[=<>!|()[\]'"‘’“”´`«»]|&&/

/** Words that stand in rules alone. */
const ruleWord = /^(?:(?:not-)?on-list|(?:starts|ends)-with|(?:not-)?contains|month-day|daysfrom|all|not)$/i

/** What people write in place of an operator, which is read so behind a first word only. */
const foreignOperator = /^(?:is|like|between|in)$/i

/** Whether a text that is no valid rule is one with a mistake. */
const isMeantAsRule = (text: string): boolean => {
  if (isSavedRule(text)) return true
  const plain = text.replaceAll(inName, "")
  if (signs.test(plain)) return true
  const [first = "", second = "", ...others] = text.trim().split(/\s+/)
  if (isRecordFieldName(first.toLowerCase()) || /^(?:AND|OR)$/.test(first)) return true
  if (foreignOperator.test(second) && others.length > 0 && !/^['’]/.test(others[0] ?? "")) return true
  return [first, second, ...others].some(
    (word, index) => ruleWord.test(word) || (index > 0 && /^(?:and|or)$/i.test(word))
  )
}

/** The words of a text: what stands between blanks, commas and semicolons, and signs only where nothing else does. */
const wordsOf = (text: string): ReadonlyArray<string> => {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== "")
  const words = parts.filter((part) => /[\p{L}\p{N}]/u.test(part))
  return words.length === 0 ? parts : words
}

const readWords = (text: string): SearchText | undefined => {
  const words = wordsOf(text)
  if (text.length > longestWords || !Arr.isReadonlyArrayNonEmpty(words)) return undefined
  const rule = Rule.printUnchecked(Rule.and(Arr.map(words, wordCondition)))
  return Result.isSuccess(parseRule(rule)) ? { _tag: "Words", words, rule } : undefined
}

/** An address with what stands around it, and the other places in which signs are none of a rule. */
const addressParts =
  /"(?:[^"\\]|\\.)*"|<[^<>@]*@[^<>]*>|\([^()]*\)|['"]?(?<![^\s<>()[\]"',;=@])[^\s<>()[\]"',;=@]+@[^\s<>()[\]"',;]+['"]?/g

/** The addresses of a text that holds nothing else, but for names. */
const readAddresses = (text: string): SearchText | undefined => {
  if (!text.includes("@") || isMeantAsRule(text.replaceAll(addressParts, " "))) return undefined
  const { addresses, others, repeated } = readAddressList(text)
  const [email] = addresses
  if (email === undefined || others.length > 0) return undefined
  return addresses.length + repeated.length === 1 ? { _tag: "Address", email } : { _tag: "Addresses", text }
}

/** Reads what a person means. */
export const readSearch = (text: string): SearchText => {
  const trimmed = text.trim()
  if (trimmed === "") return { _tag: "Everyone" }
  const rule: SearchText = { _tag: "Rule", text: trimmed }
  if (isSavedRule(trimmed) || Result.isSuccess(parseRule(trimmed))) return rule
  return readAddresses(text) ?? (isMeantAsRule(trimmed) ? rule : (readWords(trimmed) ?? rule))
}

/** The words of a text that was read as a rule with a mistake, for a person who meant words; `undefined` if it has none. */
export const searchAsWords = (text: string): SearchText | undefined => readWords(text.trim())

/** What a person would type for a rule: words, if it asks for nothing else, or the rule itself. */
export const searchTextOf = (rule: string): string => {
  const parsed = parseRule(rule)
  if (Result.isFailure(parsed)) return rule
  const filters = conditionsOf(parsed.success).map(filterOf)
  const words = filters.flatMap((filter) => (filter?._tag === "Word" ? [filter.word] : []))
  const text = words.join(" ")
  if (words.length !== filters.length) return rule
  const read = readSearch(text)
  return read._tag === "Words" && Equal.equals(parseRule(read.rule), parsed) ? text : rule
}
