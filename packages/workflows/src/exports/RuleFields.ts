/**
 * Whether contacts have the custom fields that a rule or a write names. One that nobody has equals the empty text, so that a rule with
 * a slip selects others than it seems to, and a write with one makes a field of that name. (docs/rules.md, docs/decisions/records.md)
 */
import {
  type Contact,
  ContactsService,
  type ImportMapping,
  InvalidInput,
  ListsText,
  parseRule,
  RawRule,
  Rule
} from "@roster/domain"
import {
  ContactColumns,
  ContactFields,
  type ContactRule,
  customFieldsOf,
  fnRedacted,
  KnownFields,
  RuleFields
} from "@roster/domain/internal"
import { didYouMean, quoted, slipOf } from "@roster/domain/DidYouMean"
import { Array as Arrays, Effect, Option, Result } from "effect"

/** The contacts whose custom fields are taken for those that there are, for suggestions. */
const sampled = 100

/** The custom fields that one rule looks for. */
const lookedForAtOnce = 20

/** A custom field that no contact has, and what may be meant, as a question. */
export interface UnknownField {
  /** Its name, as the rule has it. */
  readonly name: string
  /** Such as `did you mean "city"?`. */
  readonly meant: string | undefined
}

/** The custom fields that contacts have. */
const namesOf = (contacts: ReadonlyArray<Contact>): ReadonlyArray<string> => [
  ...new Set(contacts.flatMap(({ customFields = {} }) => Object.keys(customFields)))
]

/** Those of some custom fields that no contact has. A contact that has one shows which of them it has. */
const unusedFields = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const contacts = yield* ContactsService
  const unused: Array<string> = []
  for (const some of Arrays.chunksOf(names, lookedForAtOnce)) {
    let left: ReadonlyArray<string> = some
    while (Arrays.isReadonlyArrayNonEmpty(left)) {
      const hasOne = Rule.or(Arrays.map(left, (name) => Rule.compare(Rule.customField(name), "!=", Rule.text(""))))
      const found = yield* contacts.list({ limit: 1, rule: Rule.print(hasOne) })
      if (found.length === 0) {
        unused.push(...left)
        break
      }
      const theirs = new Set(namesOf(found).map(Rule.foldText))
      const others = left.filter((name) => !theirs.has(Rule.foldText(name)))
      // Another service may show a contact without what it was asked for.
      if (others.length === left.length) break
      left = others
    }
  }
  return unused
})

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
    const fieldNames = namesOf(some)
    const folded = new Set(fieldNames.map(Rule.foldText))
    const absent = yield* unusedFields(names.filter((name) => !folded.has(Rule.foldText(name))))
    return absent.map((name) => ({ name, meant: didYouMean(name, [...fieldNames, ...RuleFields.recordFieldNames]) }))
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

// What a write makes

/** The contacts whose custom fields are looked at for names that a new one nearly has. */
const lookedAt = 1000

/** The fields that every contact may have. */
const recordFields = [...ContactFields.allFields.map(({ wire }) => wire), ListsText.listsColumn]

/**
 * The custom fields that an import of rows with such a header writes. A column that the mapping gives its own name is kept so on
 * purpose, and is none of them.
 */
export const importedFields = (header: ReadonlyArray<string>, mapping: ImportMapping = {}): ReadonlyArray<string> => {
  const kept = new Set(
    Object.entries(mapping.columns ?? {}).flatMap(([column, field]) =>
      field !== null && Rule.foldText(column.trim()) === Rule.foldText(field.trim())
        ? [Rule.foldText(field.trim())]
        : []
    )
  )
  const columns = ContactColumns.columnFields(header, ContactColumns.presentColumns(header, mapping))
  return [
    ...columns.map(({ field }) => field ?? ""),
    ...Object.keys(mapping.constants ?? {}).map((name) => custom + name)
  ]
    .flatMap((field) => (field.startsWith(custom) ? [field.slice(custom.length).trim()] : []))
    .filter((name) => !kept.has(Rule.foldText(name)) && !ContactColumns.isRecordColumn(name))
}

const custom = "CustomFields."

/** A custom field that no contact has yet, and the field whose name it misses by one letter or by two swapped ones. */
export interface NewField {
  /** Its name, as it is given. */
  readonly name: string
  /** The field that may be meant; `undefined` if none is so near. */
  readonly near: string | undefined
}

/** The field of all contacts, or of the known custom ones, whose name another one misses by one letter or by two swapped ones. */
export const nearField = (name: string, known: ReadonlyArray<string>): string | undefined =>
  slipOf(name, [...recordFields, ...known])

const noNames: ReadonlyArray<string> | undefined = undefined

/**
 * Those of some fields that a write would make: custom fields that no contact has. With a key that may not view contacts they are
 * those alone whose names are nearly fields of every contact.
 */
export const newFields = fnRedacted("newFields")(function* (
  names: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<NewField>, never, ContactsService> {
  const others = names.filter((name) => !ContactColumns.isRecordColumn(name))
  const asked = [...new Map(others.map((name) => [Rule.foldText(name), name])).values()]
  const contacts = yield* ContactsService
  let known: ReadonlyArray<string> = []
  const isNew = (name: string): boolean => !known.some((other) => Rule.foldText(other) === Rule.foldText(name))
  const made = yield* Effect.gen(function* () {
    if (asked.length === 0) return []
    for (const limit of [sampled, lookedAt]) {
      const some = yield* contacts.list({ limit })
      known = namesOf(some)
      if (some.length < limit) return asked.filter(isNew)
      if (!asked.some(isNew)) return []
    }
    return yield* unusedFields(asked.filter(isNew))
  }).pipe(Effect.orElseSucceed(() => noNames))
  const all = (made ?? asked).map((name) => ({ name, near: nearField(name, known) }))
  return made === undefined ? all.filter(({ near }) => near !== undefined) : all
})

/** Whether a write may make a custom field whose name is nearly that of another field. */
export interface NewFieldOptions {
  /** Makes such a field (default: false). */
  readonly newField?: boolean | undefined
}

const newFieldOptions = KnownFields.fieldsOf<NewFieldOptions>("this call", { newField: true })

/**
 * Refuses a custom field that no contact has and whose name misses that of another field by one letter or by two swapped ones, as
 * the command line does, and gives the other new ones. A program asks before it writes what people typed.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { checkNewFields, planUpdate } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * const customFields = { city: "Bonn" }
 *
 * export const example = Effect.gen(function* () {
 *   const made = yield* checkNewFields(Object.keys(customFields))
 *   yield* Effect.log(`New fields: ${made.join(", ")}`)
 *   return yield* planUpdate((yield* ContactsService).stream({ rule: "city = 'Koeln'" }), { customFields })
 * })
 * ```
 */
export const checkNewFields = fnRedacted("checkNewFields")(function* (
  names: ReadonlyArray<string>,
  options: NewFieldOptions = {}
): Effect.fn.Return<ReadonlyArray<string>, InvalidInput, ContactsService> {
  yield* KnownFields.checkFields(newFieldOptions, options)
  const made = yield* newFields(names)
  const slip = options.newField === true ? undefined : made.find(({ near }) => near !== undefined)
  if (slip?.near !== undefined) {
    return yield* new InvalidInput({ field: "customFields", issue: newFieldWords(slip) })
  }
  return made.map(({ name }) => name)
})

/** What is said of a new custom field whose name is nearly that of another field. */
export const newFieldWords = ({ name, near }: NewField): string =>
  `no contact has a field ${quoted(name)}${near === undefined ? "" : `; did you mean ${quoted(near)}?`}`
