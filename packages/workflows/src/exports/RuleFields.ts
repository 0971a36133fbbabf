/**
 * Whether contacts have the custom fields that a rule names. One that nobody has equals the empty text, so that a rule with a slip
 * selects others than it seems to. (docs/rules.md)
 */
import { ContactsService, InvalidInput, parseRule, RawRule, Rule } from "@roster/domain"
import {
  ContactColumns,
  type ContactRule,
  customFieldsOf,
  fnRedacted,
  KnownFields,
  RuleFields
} from "@roster/domain/internal"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect, Option, Result } from "effect"

/** The contacts whose custom fields are taken for those that there are, for suggestions. */
const sampled = 100

/** The custom fields of a rule that are looked for; more than that are not typed. */
const maximumLookups = 10

/** A custom field that no contact has, and what may be meant, as a question. */
export interface UnknownField {
  /** Its name, as the rule has it. */
  readonly name: string
  /** Such as `did you mean "city"?`. */
  readonly meant: string | undefined
}

/**
 * The custom fields of a rule, and of names of columns, that no contact has. A rule of another dialect is not read, a store without
 * contacts has no field yet, and a key that may not read is told nothing.
 */
export const unknownFields = fnRedacted("unknownFields")(
  function* (rule: ContactRule | undefined, columns: ReadonlyArray<string> = []) {
    const parsed = rule === undefined || rule instanceof RawRule ? undefined : Result.getOrUndefined(parseRule(rule))
    const ofRule = parsed === undefined ? [] : customFieldsOf(parsed)
    const names = [...ofRule, ...columns.filter((name) => !ContactColumns.isRecordColumn(name))]
    if (names.length === 0) return []
    const contacts = yield* ContactsService
    const some = yield* contacts.list({ limit: sampled })
    if (some.length === 0) return []
    const fieldNames = new Set(some.flatMap(({ customFields = {} }) => Object.keys(customFields)))
    const folded = new Set([...fieldNames].map(Rule.foldText))
    const absent: Array<UnknownField> = []
    for (const name of names.filter((name) => !folded.has(Rule.foldText(name))).slice(0, maximumLookups)) {
      const hasField = Rule.print(Rule.compare(Rule.customField(name), "!=", Rule.text("")))
      if ((yield* contacts.list({ limit: 1, rule: hasField })).length > 0) continue
      absent.push({ name, meant: didYouMean(name, [...fieldNames, ...RuleFields.recordFieldNames]) })
    }
    return absent
  },
  Effect.option,
  Effect.map(Option.getOrElse((): ReadonlyArray<UnknownField> => []))
)

/** Whether a rule may name a custom field that no contact has. */
export interface UnknownFieldOptions {
  /** Takes such a field (default: false). */
  readonly allowUnknownField?: boolean | undefined
}

const optionFields = KnownFields.fieldsOf<UnknownFieldOptions>("this call", { allowUnknownField: true })

/**
 * Refuses a rule with a custom field that no contact has, as `exportTo` and the command line do. A program asks before it changes or
 * deletes the contacts of a rule.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { checkRuleFields, planDelete } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * const rule = "city = 'Bonn'"
 *
 * export const example = Effect.gen(function* () {
 *   yield* checkRuleFields(rule)
 *   return yield* planDelete((yield* ContactsService).stream({ rule }))
 * })
 * ```
 */
export const checkRuleFields = fnRedacted("checkRuleFields")(function* (
  rule: ContactRule,
  options: UnknownFieldOptions = {}
): Effect.fn.Return<void, InvalidInput, ContactsService> {
  yield* KnownFields.checkFields(optionFields, options)
  if (options.allowUnknownField === true) return
  const [first] = yield* unknownFields(rule)
  if (first === undefined) return
  const { meant, name } = first
  const issue = `no contact has the custom field ${JSON.stringify(name)}${meant === undefined ? "" : `; ${meant}`}`
  return yield* new InvalidInput({ field: "rule", issue })
})
