/** `roster contacts delete` */
import {
  ContactFilter,
  ContactsService,
  maximumLookup,
  parseRule,
  RunsService,
  type ServiceError
} from "@roster/domain"
import { ruleSource, selectsEveryContact } from "@roster/domain/internal"
import { emptyReport, planDelete, type PlanSummary, RunLog } from "@roster/workflows"
import { Array as Arrays, Effect, Result } from "effect"
import { Command } from "effect/cli"
import { invalid, PartlyDone, refusedHere } from "../../errors/UsageError.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"
import { withHelp } from "../shared/HelpExtras.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { Output } from "../../terminal/Output.ts"
import { counted } from "../../terminal/Printable.ts"
import { resumeCommand, ResumeHint } from "../../terminal/ResumeHint.ts"
import { refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { confirmContacts, confirmCount, yes } from "../shared/Confirm.ts"
import { selected, selectionFlags, selectionRefusals, aboutSelection, fileGroup } from "../shared/Selection.ts"
import { allowUnplaced, type Given, planAndApply } from "./PlanOfMany.ts"
import { reporting } from "./runs/RunSummary.ts"

const preview = ({ deleted = 0, firstContacts = [], statuses = {} }: PlanSummary) => ({
  lines: [
    `delete ${counted(deleted)}: ${Object.entries(statuses)
      .map(([status, number]) => `${number} ${status || "without a status"}`)
      .join(", ")}`,
    ...firstContacts.map(({ contact: { FirstName = "", LastName = "" }, email }) =>
      `  ${email}  ${FirstName} ${LastName}`.trimEnd()
    ),
    ...(deleted > firstContacts.length ? ["  …"] : [])
  ],
  facts: { deleted, statuses, sample: firstContacts.map(({ email }) => email) }
})

const namedWords = ([first = "", ...rest]: ReadonlyArray<string>): string =>
  rest.length === 0 ? `delete the contact ${first} everywhere` : `delete ${rest.length + 1} contacts everywhere`

/** A rule that is not `All` and selects every contact is a mistake. */
const checkRule = (filter: ContactFilter) => {
  if (filter._tag !== "ByRule") return Effect.void
  const parsed = parseRule(ruleSource(filter.rule))
  return Result.isSuccess(parsed) && parsed.success._tag !== "All" && selectsEveryContact(parsed.success)
    ? refusedHere(Effect.fail(invalid("Rule", "it selects every contact; to do that, use the rule All")))
    : Effect.void
}

/** Deletes the contacts with these addresses unread, with a key that may not read them. */
const deleteUnread = Effect.fnUntraced(function* (
  emails: Arrays.NonEmptyReadonlyArray<string>,
  { file, ...given }: Pick<Given, "yes" | "confirm"> & { readonly file: string | undefined }
) {
  const output = yield* Output
  const contacts = yield* ContactsService
  const hint = yield* ResumeHint
  yield* output.note(
    "This key may not view contacts, so that the deletion cannot be planned, and nobody is told which of these addresses have " +
      "a contact."
  )
  const isRecorded = yield* (yield* RunsService).areKept
  const undone = isRecorded ? "which only a key that may view contacts can undo" : "which cannot be undone"
  yield* confirmContacts(`${namedWords(emails)}, ${undone}`, emails.length, given)
  const run = yield* (yield* RunLog).open({ command: "delete" })
  if (run.takesEntries) yield* run.append({ _tag: "Unknown", what: "a deletion by a key that may not read contacts" })
  hint.command = yield* resumeCommand()
  yield* reporting(
    { command: "delete", file },
    Effect.fnUntraced(function* (tell) {
      const read = emails.length
      const words = `No contact has ${read === 1 ? "this address" : `these ${read} addresses`} any more.`
      const told = (done: number, unknown: number) => {
        const report = { ...emptyReport, run: run.header.id, read, done, unknownWhetherNew: done, unknown }
        return tell({
          report: { ...report, notSent: read - done - unknown },
          ...(done === read ? { words } : {})
        })
      }
      let done = 0
      for (const some of Arrays.chunksOf(emails, maximumLookup)) {
        yield* told(done, some.length)
        yield* run.write(contacts.deleteMany(ContactFilter.ByEmails({ emails: some }))).pipe(
          Effect.catchTag("InvalidRule", Effect.die),
          Effect.tapError((error) => told(done, "mayHaveHappened" in error && error.mayHaveHappened ? some.length : 0)),
          Effect.catchIf(
            () => done > 0,
            ({ message }) =>
              new PartlyDone({
                message: `${done} of ${read} addresses are done. ${message}`,
                hint: "When it resumes, addresses that have no contact any more are no error."
              })
          )
        )
        done += some.length
        yield* told(done, 0)
      }
    })
  )
  yield* run.end
  hint.command = undefined
}, Effect.scoped)

export const command = Command.make(
  "delete",
  { ...selectionFlags, allowUnplaced, yes, confirm: confirmCount, dryRun },
  Effect.fnUntraced(function* ({ emails, file, rawRule, reading, rule, ...given }) {
    const selection = { emails, file, rawRule, reading, rule }
    const filter = yield* selected(selection)
    yield* checkRule(filter)
    const what =
      filter._tag === "ByRule"
        ? `delete every contact that the rule ${ruleSource(filter.rule)} selects`
        : namedWords(filter.emails)
    yield* planAndApply(
      filter,
      {
        command: "delete",
        file,
        doing: "Deleting",
        what,
        input: "delete",
        plan: planDelete,
        preview,
        nothing: () => Effect.succeed("No contact matches, so nothing was deleted.")
      },
      given
    ).pipe(
      Effect.catchIf(
        (error): error is ServiceError =>
          error._tag === "ServiceError" &&
          error.reason._tag === "AccessDenied" &&
          error.reason.required === "ViewContacts",
        (error) =>
          filter._tag === "ByEmails" && !given.dryRun
            ? deleteUnread(filter.emails, { ...given, file })
            : Effect.fail(error)
      ),
      RunLogLayer.about(aboutSelection(selection, filter))
    )
  })
).pipe(
  Command.validate((selection) => refuseFlags(...selectionRefusals(selection))),
  withExamples({
    "roster contacts delete ann@example.com": "",
    "roster contacts delete ann@example.com bob@example.com --yes":
      "Delete several contacts without a confirmation prompt; roster contacts undo brings them back",
    "roster contacts delete --file left.csv": "Delete the contacts whose addresses are in a file",
    'roster contacts delete --rule "status = Bounced"': "Delete all contacts that a rule selects",
    'roster contacts delete --rule "status = Bounced" --dry-run': "Show the number of contacts and a few examples",
    'roster contacts delete --rule "status = Bounced" --yes --confirm 20417':
      "Without a terminal: delete only if exactly this many contacts match"
  }),
  withHelp({ groups: fileGroup }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
