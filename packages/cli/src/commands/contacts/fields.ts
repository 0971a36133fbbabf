/** `roster contacts fields`, which shows which fields contacts have, or gives custom fields a kind */
import { ContactsService, FieldsInUse, FieldUse, parseRule, RawRule, Rule } from "@roster/domain"
import { ContactColumns, contactFilterFromInput, type ContactRule, FieldNames } from "@roster/domain/internal"
import { planConversion, type PlanSummary } from "@roster/workflows"
import { Array as Arrays, Effect, Option, Result, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { PartlyDone, refuse, refusedHere, usageError } from "../../errors/UsageError.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { Output } from "../../terminal/Output.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { confirmCount, yes } from "../shared/Confirm.ts"
import { checkFields, givenRule, noteUnplaced, ruleFlags, twoRules } from "../shared/RuleFlags.ts"
import { kindFlag } from "../shared/MappingFlags.ts"
import { allowUnplaced, changesPreview, type Given, planAndApply } from "./PlanOfMany.ts"

const columns = ["Name", "Contacts", "Numbers", "Dates", "Examples"]

/** Shows the fields of the contacts that a rule selects. */
const show = Effect.fnUntraced(function* (rule: ContactRule | undefined) {
  yield* noteUnplaced(rule)
  const used = yield* (yield* ContactsService).fields({ rule })
  const { format, note } = yield* Output
  if (format === "json" || format === "ndjson") return yield* Results.record(FieldsInUse, used)
  yield* Results.records(FieldUse, columns, Stream.fromIterable(used.fields))
  yield* note(`Of ${counted(used.contacts)}${used.exact ? "." : ", and there are more: each count is one at least."}`)
})

type Conversion = readonly [field: string, kind: string]

/** The contacts with a value in one of the fields, of those that a rule selects. Nobody knows how to add to a raw rule. */
const withValues = (fields: Arrays.NonEmptyReadonlyArray<string>, rule: ContactRule | undefined): ContactRule => {
  if (rule instanceof RawRule) return rule
  const hasValue = Rule.or(Arrays.map(fields, (name) => Rule.compare(Rule.customField(name), "!=", Rule.text(""))))
  const given = rule === undefined ? Rule.all : Result.getOrElse(parseRule(rule), () => Rule.all)
  return Rule.print(given._tag === "All" ? hasValue : Rule.and([given, hasValue]))
}

const shownValues = 20

/** The values that stay as they are. */
const leftLines = ({ leftValues = [], valuesLeft = 0 }: PlanSummary): ReadonlyArray<string> =>
  valuesLeft === 0
    ? []
    : [
        `${valuesLeft === 1 ? "1 value stays as it is" : `${valuesLeft} values stay as they are`}:`,
        ...leftValues
          .slice(0, shownValues)
          .map(({ email, field, reason, value }) => `  ${email}  ${field}: ${JSON.stringify(value)}: ${reason}`),
        ...(valuesLeft > shownValues ? [`  and ${valuesLeft - shownValues} more; use -o json to see them`] : [])
      ]

const leftFacts = ({ leftValues, valuesLeft }: PlanSummary) => Results.omitUndefined({ valuesLeft, leftValues })

const partlyDone = ({ valuesLeft = 0 }: PlanSummary): PartlyDone | undefined =>
  valuesLeft === 0
    ? undefined
    : new PartlyDone({
        message:
          valuesLeft === 1
            ? "1 value cannot be converted, and stays."
            : `${valuesLeft} values cannot be converted, and stay.`,
        hint: "Correct them, or convert them by another form."
      })

/** Gives fields a kind, by a plan that can be undone. Values that are not of the kind make it partly done. */
const convert = Effect.fnUntraced(function* (
  conversions: Arrays.NonEmptyReadonlyArray<Conversion>,
  { rule, ...given }: Given & { readonly rule: ContactRule | undefined }
) {
  const names = Arrays.map(conversions, ([field]) => field)
  const words = conversions.map(([field, kind]) => `${field}=${kind}`).join(", ")
  const selecting = yield* Effect.try({
    try: () => withValues(names, rule),
    catch: () => usageError(`No rule can name one of the fields ${names.join(", ")}.`, "Name them as --rule does.")
  })
  const filter = yield* refusedHere(contactFilterFromInput({ rule: selecting, emails: undefined }))
  const kinds = Object.fromEntries(conversions)
  return yield* planAndApply(
    // A rule is given.
    Option.getOrThrow(filter),
    {
      command: "convert",
      file: undefined,
      doing: "Converting",
      what: `store ${words} as rules compare it`,
      input: JSON.stringify(kinds),
      plan: (contacts, options) =>
        planConversion(contacts, kinds, options).pipe(
          Effect.catchTag("InvalidInput", ({ field, issue }) =>
            Effect.fail(
              usageError(`Nothing was done: ${field}: ${issue}.`, "Give the kind with its form to --convert.")
            )
          )
        ),
      preview: (summary) => {
        const { facts, lines } = changesPreview(summary)
        return { lines: [...lines, ...leftLines(summary)], facts }
      },
      nothing: (summary) =>
        Effect.succeed(
          [`No contact changes: ${counted(summary.read)} have no value to convert.`, ...leftLines(summary)]
            .map(printable)
            .join("\n")
        ),
      facts: leftFacts,
      partly: partlyDone
    },
    rule instanceof RawRule ? { ...given, columns: names } : given
  )
})

export const command = Command.make(
  "fields",
  {
    ...ruleFlags,
    convert: kindFlag(
      "convert",
      "field",
      "Give a custom field a kind: store its texts, which are dates, numbers or answers in this form, as rules compare them; " +
        "a text that is none stays as it is, and is listed"
    ).pipe(
      Flag.mapEffect((conversions) => {
        const [builtIn] = conversions.find(([field]) => ContactColumns.isRecordColumn(field)) ?? []
        return builtIn === undefined
          ? Effect.succeed(conversions)
          : refuse("convert", `${builtIn} is a built-in field, not a custom field`)
      })
    ),
    allowUnplaced,
    yes,
    confirm: confirmCount,
    dryRun
  },
  Effect.fnUntraced(function* ({ convert: conversions, rawRule, rule: text, ...given }) {
    const rule = yield* givenRule({ rule: text, rawRule })
    if (Arrays.isReadonlyArrayNonEmpty(conversions)) {
      return yield* convert(conversions, { rule, ...given }).pipe(
        RunLogLayer.about(conversions.map((pair) => pair.join("=")).join(", "))
      )
    }
    yield* checkFields(rule, given)
    yield* show(rule)
  })
).pipe(
  Command.validate(({ allowUnplaced, confirm, convert: conversions, dryRun, yes, ...given }) =>
    refuseFlags(
      twoRules(given),
      [
        conversions.length === 0 && (allowUnplaced || dryRun || yes || confirm !== undefined),
        "--yes, --confirm, --dry-run and --allow-unplaced are flags of --convert, which is missing."
      ],
      [
        new Set(conversions.map(([field]) => FieldNames.foldName(field))).size < conversions.length,
        "--convert gives a field one kind; convert its other values by a command of their own."
      ]
    )
  ),
  withExamples({
    "roster contacts fields": "",
    "roster contacts fields -o json | jq -r '.Fields[] | select(.IsCustom).Name'": "Print the names of custom fields",
    'roster contacts fields --rule "status = Active"': "Count the fields of the contacts that a rule selects",
    "roster contacts fields --convert 'Kunde seit=date:DD.MM.YYYY' --dry-run":
      "Show how many stored dates would become dates that rules compare",
    "roster contacts fields --convert Umsatz=number:1.234,56": "Store numbers as rules compare them"
  }),
  Command.provide(({ convert: conversions, dryRun }) =>
    RunLogLayer.layerForWrites({
      dryRun,
      reads: conversions.length === 0,
      isKept: conversions.length > 0 && !dryRun
    })
  )
)
