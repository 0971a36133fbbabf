/** `roster contacts update` */
import { Contact, ruleSource } from "@roster/domain"
import { changeAsRun, planUpdate, type PlanSummary } from "@roster/workflows"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { dryRun } from "../../terminal/DryRun.ts"
import { confirmCount, yes } from "../shared/Confirm.ts"
import { contactNames, customFields, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { isByRule, selected, selectionFlags, selectionRefusals, selectionWords } from "../shared/Selection.ts"
import * as Results from "../../terminal/Results.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import { counted } from "../../terminal/Printable.ts"
import { allowUnplaced, planAndApply } from "./PlanOfMany.ts"

const shown = 5

const changesText = (changes: Readonly<Record<string, readonly [before: unknown, after: unknown]>>): string =>
  Object.entries(changes)
    .map(([field, [before, after]]) => `${field}: ${before ?? "nothing"} -> ${after ?? "nothing"}`)
    .join(", ")

const preview = (summary: PlanSummary) => {
  const { changed, read, unchanged } = summary
  const sample = summary.sample.slice(0, shown)
  return {
    lines: [
      `change ${counted(changed)} of ${read}${unchanged === 0 ? "" : `; ${unchanged} are so already`}`,
      ...sample.map(({ changes, email }) => `  ${email}  ${changesText(changes)}`),
      ...(changed > sample.length ? ["  …"] : [])
    ],
    facts: { changed, unchanged, sample }
  }
}

const nothing = ({ read }: PlanSummary): string =>
  `No contact changes: ${counted(read)} ${read === 1 ? "is" : "are"} so already.`

export const command = Command.make(
  "update",
  { ...selectionFlags, allowUnplaced, ...contactNames, customFields, yes, confirm: confirmCount, dryRun },
  Effect.fnUntraced(function* ({ customFields, firstName, lastName, ...given }) {
    const changes = Results.omitUndefined({ customFields, firstName, lastName })
    const [email, ...others] = given.emails
    const about = RunLogLayer.about(selectionWords(given))
    if (email === undefined || others.length > 0 || given.file !== undefined || isByRule(given) || given.dryRun) {
      const filter = yield* selected(given)
      const what =
        filter._tag === "ByRule"
          ? `change every contact that the rule ${ruleSource(filter.rule)} selects`
          : "change contacts"
      return yield* planAndApply(
        filter,
        {
          command: "update",
          file: given.file,
          doing: "Changing",
          what,
          input: JSON.stringify(changes),
          plan: (contacts, options) => planUpdate(contacts, changes, options),
          preview,
          nothing
        },
        given
      ).pipe(about)
    }
    const { contact: updated } = yield* about(changeAsRun({ email, write: changes }, { command: "update" }))
    yield* updated == null
      ? Results.summary({ changed: 1 }, "The contact is changed.")
      : Results.record(Contact, updated)
  })
).pipe(
  Command.validate(({ customFields, firstName, lastName, ...selection }) =>
    refuseFlags(
      [
        firstName === undefined && lastName === undefined && customFields === undefined,
        "There is nothing to change: add --first-name, --last-name or --field."
      ],
      ...selectionRefusals(selection)
    )
  ),
  withExamples({
    "roster contacts update ann@example.com --last-name Lee-Smith": "",
    "roster contacts update ann@example.com --field city=Paris --field plan=":
      "Set one custom field, and clear another",
    "roster contacts update --rule \"city = 'Koeln'\" --field city=Köln --dry-run":
      "Show how many contacts would change, and a few of them",
    "roster contacts update --rule \"city = 'Koeln'\" --field city=Köln": "Change all contacts that a rule selects"
  }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
