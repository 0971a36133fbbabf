/** Which contacts a command works on: those with some addresses, typed or in a file, or those that a rule selects. */
import { canonicalEmail, type ContactFilter } from "@roster/domain"
import { contactFilterFromInput } from "@roster/domain/internal"
import { readAddresses, selectionWords } from "@roster/workflows"
import { Effect, Option } from "effect"
import { Argument } from "effect/cli"
import { refusedHere, usageError } from "../../errors/UsageError.ts"
import { text } from "../../settings/FlagForms.ts"
import { readBytes } from "../../settings/InputFile.ts"
import { emails } from "./CommonFlags.ts"
import { type GivenRule, givenRule, ruleFlags, twoRules } from "./RuleFlags.ts"

/** The ways to select contacts. */
export const selectionFlags = {
  emails: Argument.variadic(emails),
  ...ruleFlags,
  file: text(
    "file",
    "Select the contacts whose addresses are in FILE: in the column Email of a CSV or JSON file, or one on each line; " +
      "- for stdin",
    "FILE"
  )
}

export interface Selection extends GivenRule {
  readonly emails: ReadonlyArray<string>
  readonly file: string | undefined
}

/** Whether contacts are selected by a rule. */
export const isByRule = ({ rawRule, rule }: GivenRule): boolean => rule !== undefined || rawRule !== undefined

/** Whether one contact is selected, by its address. */
export const isOne = (given: Selection): boolean =>
  given.emails.length === 1 && given.file === undefined && !isByRule(given)

/** What a run of a selection is of, in words: its file, or the selection without anybody's name. */
export const aboutSelection = ({ file }: Pick<Selection, "file">, filter: ContactFilter): string =>
  file ?? selectionWords(filter._tag === "ByRule" ? filter.rule : filter.emails.length)

/** The refusals of two rules and of no way at all, for `refuseFlags`. */
export const selectionRefusals = (given: Selection, others = "") => {
  const isNamed = given.emails.length > 0 || given.file !== undefined
  return [
    twoRules(given),
    [!isByRule(given) && !isNamed, `Name the contacts: by address, --file, --rule${others}.`]
  ] as const
}

/** The selected contacts; addresses each once. */
export const selected = Effect.fnUntraced(function* ({ emails, file, ...given }: Selection) {
  const ofFile =
    file === undefined
      ? []
      : yield* Effect.catchTag(readAddresses(yield* readBytes(file)), "InvalidInput", ({ field, issue }) =>
          Effect.fail(
            usageError(
              `${file}, ${field}: ${issue}. Nothing was done.`,
              "Correct the file; it names one contact a line."
            )
          )
        )
  const all = [...new Map([...emails, ...ofFile].map((email) => [canonicalEmail(email), email])).values()]
  const isNamed = emails.length > 0 || file !== undefined
  const filter = contactFilterFromInput({ rule: yield* givenRule(given), emails: isNamed ? all : undefined })
  // Without any of them the command was refused.
  return Option.getOrThrow(yield* refusedHere(filter))
})
