/**
 * What is being written in the box: a rule, for which words and addresses stand too, what is wrong with it, what may be written next,
 * the saved rule that it names, and its use.
 */
import {
  completeRule,
  InvalidInput,
  InvalidRule,
  parseRule,
  Rule,
  RuleName,
  type SaveRuleOptions
} from "@roster/domain"
import {
  completeSavedRule,
  invalidInput,
  isSavedRule,
  quoteText,
  readAddressList,
  readSearch,
  RuleFilters,
  ruleOf,
  savedRulesOf
} from "@roster/domain/internal"
import { Cause, Data, Effect, Option, Result, Schema } from "effect"
import { AsyncResult, Atom } from "effect/reactivity"
import { rulesChanged } from "../session/Changes.ts"
import { ruleTexts } from "../texts/RuleTexts.ts"
import * as AppliedRule from "./AppliedRule.ts"
import { localDays, type Suggestion } from "./LocalDays.ts"
import { ruleStorage, RuleStorage } from "./RuleStorage.ts"

const runtime = Atom.runtime((get) => get(ruleStorage))

const saved = Atom.keepAlive(Atom.withReactivity(rulesChanged)(runtime.atom(RuleStorage.use(({ all }) => all))))

/** The texts of the saved rules by their names. */
export const savedRules = Atom.mapResult(saved, savedRulesOf)

const savedTexts = Atom.readable((get) => AsyncResult.getOrElse(get(savedRules), () => undefined))

/** What the draft means: addresses, words or a rule. */
export const search = Atom.readable((get) => readSearch(get(AppliedRule.draft)))

const ruleOfAddresses = (values: ReadonlyArray<string>): string => {
  const condition = RuleFilters.conditionOf({ _tag: "Values", field: Rule.recordField("email"), values })
  return condition === undefined ? "" : Rule.printUnchecked(condition)
}

/** The rule for which the draft stands; `undefined` while it names a saved one and those are not known yet. */
const meant = Atom.readable((get): Result.Result<string, InvalidRule> | undefined => {
  const found = get(search)
  switch (found._tag) {
    case "Everyone":
      return Result.succeed("")
    case "Address":
      return Result.succeed(ruleOfAddresses([found.email]))
    case "Addresses":
      return Result.succeed(ruleOfAddresses(readAddressList(found.text).addresses))
    case "Words":
      return Result.succeed(found.rule)
    case "Rule": {
      if (!isSavedRule(found.text)) return Result.succeed(found.text)
      const saved = get(savedTexts)
      return saved === undefined ? undefined : ruleOf(found.text, saved)
    }
  }
})

/** The rule for which the draft stands, unless something is wrong with it. */
export const meantRule = Atom.readable((get): string | undefined => {
  const rule = get(meant)
  return get(draftProblem) === undefined && rule !== undefined && Result.isSuccess(rule) ? rule.success : undefined
})

const mostExpected = 5

/** A mistake without the long list of what would be right: that nearest to what is written is its hint, and the box offers all. */
const inShort = (problem: InvalidRule): InvalidRule =>
  problem.expected.length <= mostExpected ? problem : new InvalidRule({ ...problem, expected: [] })

/**
 * Why the draft is no rule. A field that no contact has is a mistake once all fields are known, and while the page asks for none
 * again after a change. It is no `Atom.make`, which would run the error, since an error is an effect.
 */
export const draftProblem = Atom.readable((get): InvalidRule | undefined => {
  const rule = get(meant)
  if (rule === undefined || Result.isFailure(rule)) return rule && inShort(rule.failure)
  if (rule.success === "") return undefined
  const inUse = get(AppliedRule.knownFields)
  const names =
    inUse?.exact === true && !get(AppliedRule.fieldsInUse).waiting
      ? inUse.fields.filter(({ isCustom }) => isCustom).map(({ name }) => name)
      : undefined
  const parsed = parseRule(rule.success, names === undefined ? {} : { customFields: names })
  return Result.isFailure(parsed) ? inShort(parsed.failure) : undefined
})

/** The draft with the quotes that are missing around a text, as in `Stadt = Bad Homburg`, if it is a rule then. */
export const quotedDraft = Atom.readable((get): string | undefined => {
  const problem = get(draftProblem)
  if (problem === undefined) return undefined
  const { length, position, rule } = problem
  if (rule.slice(position).trim() === "") return undefined
  return [position + length, rule.length]
    .map((end) => `${rule.slice(0, position)}${quoteText(rule.slice(position, end).trim())}${rule.slice(end)}`)
    .find((quoted) => Result.isSuccess(parseRule(quoted)))
})

/** The place of the caret in the text; `undefined` while the box has no focus. */
export const caret = Atom.make<number | undefined>(undefined)

/** Maximum number of suggestions that are shown. */
const shownSuggestions = 8

/** What may be written, and from where on. */
interface Completions {
  readonly from: number
  readonly suggestions: ReadonlyArray<Suggestion>
}

/** What may be written at the caret. */
export const completions = Atom.readable((get): Completions => {
  const at = get(caret)
  const text = get(AppliedRule.draft)
  if (at === undefined) return { from: 0, suggestions: [] }
  const { from, suggestions } = isSavedRule(text)
    ? { from: 0, suggestions: completeSavedRule(text, get(savedTexts) ?? {}) }
    : completeRule(text, at, get(AppliedRule.knownFields), get(AppliedRule.knownLists))
  const days = localDays(text.slice(0, from), new Date())
  return { from, suggestions: [...days, ...suggestions].slice(0, shownSuggestions) }
})

/** The text of the draft as a rule, or what is wrong with it. */
const checked = Effect.fnUntraced(function* (get: Atom.FnContext) {
  if (isSavedRule(get(AppliedRule.draft))) yield* get.result(savedRules)
  const problem = get(draftProblem)
  if (problem !== undefined) return yield* problem
  return yield* Effect.fromResult(get(meant) ?? Result.succeed(""))
})

/** Shows the contacts of the draft, unless something is wrong with it, and as a saved rule has them: that is given to `onView`. */
export const show = Atom.fn(
  Effect.fnUntraced(function* (onView: ((view: string) => void) | undefined, get: Atom.FnContext) {
    const rule = yield* checked(get)
    get.set(AppliedRule.rule, rule)
    const text = get(AppliedRule.draft).trim()
    if (!isSavedRule(text) || onView === undefined) return
    const found = (yield* get.result(saved)).find(({ name }) => `@${name}` === text)
    if (found?.view !== undefined) onView(found.view)
  })
)

/** The rule that clicks change: what is written, if nothing is wrong with it, and otherwise what is shown. */
const clicked = Atom.readable((get): Rule.Rule => {
  const parsed = parseRule(get(meantRule) ?? get(AppliedRule.rule))
  return Result.isSuccess(parsed) ? parsed.success : Rule.all
})

/** The conditions of the rule that is shown, each of which a click removes. */
export const conditions = Atom.readable((get): ReadonlyArray<Rule.Condition> => {
  const parsed = parseRule(get(AppliedRule.rule))
  return Result.isSuccess(parsed) ? RuleFilters.conditionsOf(parsed.success) : []
})

/** Writes a rule into the box and shows its contacts. */
const write = (context: Atom.WriteContext<unknown>, rule: Rule.Rule): void => {
  context.set(AppliedRule.draft, rule._tag === "All" ? "" : Rule.printUnchecked(rule))
  context.set(show, undefined)
}

/** Sets a filter by a click. */
export const setFilter = Atom.writable(
  () => undefined,
  (context, filter: RuleFilters.RuleFilter) => write(context, RuleFilters.withFilter(context.get(clicked), filter))
)

/** Removes a condition of the rule that is shown, by its place. */
export const removeCondition = Atom.writable(
  () => undefined,
  (context, place: number) => {
    const parsed = parseRule(context.get(AppliedRule.rule))
    write(context, Result.isSuccess(parsed) ? RuleFilters.withoutCondition(parsed.success, place) : Rule.all)
  }
)

/** Maximum number of fields that are offered to look into. */
const offeredFields = 6

/** The custom fields in which words may stand, those first that have this value, each with the rule that looks there. */
export const fieldsToSearch = Atom.family((words: string) =>
  Atom.readable((get): ReadonlyArray<{ readonly name: string; readonly rule: string }> => {
    const sought = words.toLowerCase()
    const found = (get(AppliedRule.knownFields)?.fields ?? []).flatMap(({ examples, isCustom, name }) => {
      if (!isCustom) return []
      const same = examples.find((example) => example.toLowerCase() === sought)
      const field = Rule.customField(name)
      const rule =
        same === undefined
          ? Rule.compare(field, "contains", Rule.text(words))
          : Rule.compare(field, "=", Rule.text(same))
      return [{ name, rule: Rule.printUnchecked(rule), isKnown: same !== undefined }]
    })
    return found.toSorted((left, right) => Number(right.isKnown) - Number(left.isKnown)).slice(0, offeredFields)
  })
)

/** Letters that people write as two where there are only those of English. */
const twoLetters: Readonly<Record<string, string>> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  Ä: "Ae",
  Ö: "Oe",
  Ü: "Ue",
  ß: "ss",
  ø: "o",
  ı: "i"
}

/** The name that `@` stands before, made of what a person calls a filter: "Kunden in Köln" is `Kunden-in-Koeln`. */
export const savedNameOf = (given: string): string =>
  given
    .normalize("NFC")
    .replace(/[äöüÄÖÜßøı]/g, (letter) => twoLetters[letter] ?? letter)
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64)
    .replace(/-$/, "")

/** Another filter has the name under which this one would be saved. */
export class RuleNameTaken extends Data.TaggedError("RuleNameTaken")<{ readonly name: string; readonly rule: string }> {
  override get message(): string {
    return ruleTexts.isTaken(this.name)
  }
}

/** A name to save the draft under. */
interface Saving extends SaveRuleOptions {
  readonly name: string
  /** Whether it takes the place of a filter that has the name. */
  readonly replaces?: boolean
}

const decodeName = Schema.decodeUnknownEffect(RuleName)

/** Saves the draft as a rule of this name, with how its contacts are shown. */
export const saveRule = runtime.fn(
  Effect.fnUntraced(function* (given: Saving, get: Atom.FnContext) {
    const name = yield* Effect.mapError(decodeName(savedNameOf(given.name) || given.name.trim()), (error) =>
      invalidInput(error, "name")
    )
    const rule = yield* checked(get)
    if (rule === "") return yield* new InvalidInput({ field: "rule", issue: ruleTexts.nothingToSave })
    const storage = yield* RuleStorage
    if (given.replaces !== true) {
      const taken = (yield* storage.all).find((saved) => saved.name === name)
      if (taken !== undefined) return yield* new RuleNameTaken(taken)
    }
    yield* storage.save(name, rule, { view: given.view })
    return name
  }),
  { reactivityKeys: rulesChanged }
)

/** The filter that has the name, where the draft was not saved for that. */
export const takenBy = (result: AsyncResult.AsyncResult<unknown, unknown>): RuleNameTaken | undefined => {
  const error = AsyncResult.isFailure(result) ? Option.getOrUndefined(Cause.findErrorOption(result.cause)) : undefined
  return error instanceof RuleNameTaken ? error : undefined
}

/** Removes a saved rule. */
export const removeRule = runtime.fn((name: string) => RuleStorage.use(({ remove }) => remove(name)), {
  reactivityKeys: rulesChanged
})
