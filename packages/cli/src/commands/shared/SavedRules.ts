/** Saved rules, for which `--rule @NAME` stands: those of the service or store, or of the file of profiles where that keeps none. */
import { AccountService, orWhereUntold, type RuleName, RuleText, type SavedRules } from "@roster/domain"
import { isSavedRule, ruleOf, savedRulesOf } from "@roster/domain/internal"
import { Effect, Record, Result } from "effect"
import type { CliError } from "effect/cli"
import { refusedHere, refusedInput, UsageError } from "../../errors/UsageError.ts"
import { removeFromFile, rulesInFile, saveInFile } from "../../settings/RulesInFile.ts"
import { commandHere } from "../../terminal/ResumeHint.ts"

/** The rules of the service or store, and those of the file that are not there, which stand for nothing here. */
export const savedRules = Effect.gen(function* () {
  const rules = Effect.map(
    AccountService.use(({ rules }) => rules),
    savedRulesOf
  )
  const inFile = yield* rulesInFile
  const none: SavedRules = {}
  const here = yield* orWhereUntold(Effect.undefined)(rules)
  return here === undefined
    ? { rules: inFile, unused: none }
    : { rules: here, unused: Record.filter(inFile, (_, name) => !Object.hasOwn(here, name)) }
})

/** Saves a rule, which replaces one of the same name. */
export const saveRule = (name: RuleName, rule: RuleText) =>
  orWhereUntold(Effect.asVoid(saveInFile(name, rule)))(AccountService.use(({ saveRule }) => saveRule(name, rule)))

/** Removes a saved rule. */
export const removeRule = (name: RuleName) =>
  orWhereUntold(Effect.asVoid(removeFromFile(name)))(AccountService.use(({ removeRule }) => removeRule(name)))

/** The command that brings a rule of the file here. */
export const bringing = (name: string, rule: string) => commandHere(["rules", "save", name, rule])

/** Parses a rule; which ones are saved only the service or store knows. */
export const parseGiven = (given: string): Effect.Effect<string, CliError.CliError> =>
  isSavedRule(given) ? Effect.succeed(given) : refusedInput(RuleText.fromText(given))

/** The rule for which a parsed text stands: the saved one that it names, or the text itself. */
export const ruleGiven = Effect.fnUntraced(function* (given: string) {
  const { rules, unused } = isSavedRule(given) ? yield* savedRules : { rules: {}, unused: {} }
  const found = ruleOf(given, rules)
  const inFile = ruleOf(given, unused)
  if (Result.isFailure(found) && Result.isSuccess(inFile)) {
    const command = yield* bringing(given.trim().slice(1), inFile.success)
    const { _tag: code, message } = found.failure
    return yield* new UsageError({ code, message, hint: `Your file of profiles has one; to bring it here: ${command}` })
  }
  return yield* refusedHere(Effect.flatMap(Effect.fromResult(found), RuleText.fromText))
})
