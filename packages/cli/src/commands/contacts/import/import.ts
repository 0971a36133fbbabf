/** `roster contacts import` */
import { ContactStatus, type ImportMapping, type ImportWarning, OnDuplicate, readContacts } from "@roster/domain"
import { ContactColumns, proposedColumns } from "@roster/domain/internal"
import {
  duplicatesFile,
  importedFields,
  importWarnings,
  parseRejectionLimit,
  shellWord,
  surveyContacts,
  type UploadSurvey
} from "@roster/workflows"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { openImported } from "../../shared/ImportedFile.ts"
import { handOver } from "./ServerSideImport.ts"
import { consentFlags, refusedWarnings } from "./ImportReport.ts"
import { importRows } from "./ImportRun.ts"
import { looks, mapFlags, nearlyFields, unreadable } from "../../shared/FileAdvice.ts"
import { mappingFlags, mappingOf, writeMapping } from "../../shared/MappingFlags.ts"
import { prepare } from "../../../files/AtomicFile.ts"
import { checkInputs } from "../../../settings/InputFile.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { parsed, text, toggle } from "../../../settings/FlagForms.ts"
import { settings } from "../../../settings/Settings.ts"
import { count, lists, refuseFlags, resubscribe, withExamples } from "../../shared/CommonFlags.ts"
import { withHelp } from "../../shared/HelpExtras.ts"
import { checkNewFields, newField } from "../../shared/NewFields.ts"
import { checkListNames, createList } from "../../shared/ListNames.ts"
import { Output } from "../../../terminal/Output.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { contactsFile } from "../runs/ContactsFile.ts"
import { rejectedFlags, rejectedRowsOf } from "./RejectedFile.ts"
import { existingStore } from "../../../target/EmbeddedStore.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { refuse, usageError, UsageError } from "../../../errors/UsageError.ts"
import { countText, printable } from "../../../terminal/Printable.ts"
import { resumeCommand } from "../../../terminal/ResumeHint.ts"

/** The public service refuses more than 20 connections. */
const mostAtOnce = 16

const importFlags = {
  file: Argument.String("file").pipe(
    Argument.withDescription(
      "CSV file with a column Email, JSON or NDJSON, also zipped or by gzip, a workbook (.xlsx), or - for stdin"
    )
  ),
  lists,
  createList,
  ...mappingFlags,
  newField,
  maxRejected: parsed(
    "max-rejected",
    (text) => {
      const limit = parseRejectionLimit(text)
      return limit === undefined
        ? refuse("max-rejected", "write a number such as 20, or a share such as 5%")
        : Effect.succeed(limit)
    },
    "End with 0 if no more rows are rejected: a number, or a share such as 5% (default: 0)",
    "NUMBER"
  ),
  minRows: count("min-rows", "Send nothing if the file has fewer rows, such as one that was cut off (default: 0)", 0),
  failOnWarning: toggle("fail-on-warning", "Send nothing if the import would warn, as --dry-run shows"),
  onDuplicate: Flag.Literals("on-duplicate", OnDuplicate.literals).pipe(
    Flag.withDescription(
      "Of rows with the same address take the last or the first value of each field and the strictest status, or reject all of them (default: last)"
    ),
    Flag.withDefault(undefined)
  ),
  ...rejectedFlags,
  resubscribe,
  only: Flag.Literals("only", ["existing", "new"]).pipe(
    Flag.withDescription("Leave out the rows of other contacts than existing or new ones (default: neither)"),
    Flag.withDefault(undefined)
  ),
  defaultStatus: Flag.Literals("default-status", ContactStatus.literals).pipe(
    Flag.withDescription("Status of new contacts whose rows give none (default: Active)"),
    Flag.withDefault(undefined)
  ),
  dryRun,
  plan: text(
    "plan",
    "Write what would be changed to FILE, and send nothing; carry it out with: roster contacts apply FILE. " +
      "The file holds personal data, and only you can read it",
    "FILE"
  ),
  noRecord: toggle(
    "no-record",
    "Record nothing: the import can neither be undone nor be resumed after an interruption"
  ),
  concurrency: count("concurrency", "Maximum number of concurrent requests (default: 8)", 1, mostAtOnce),
  via: Flag.Literals("via", ["batches", "file"]).pipe(
    Flag.withDescription(
      "Send batches of 1000 rows with a result for each row, or upload the file for the service to import, " +
        "without a status (default: batches)"
    ),
    Flag.withDefault("batches")
  )
}

/** Fails with the command line that takes columns that say who wants mail for the status. Nothing has been sent. */
const unheardConsent = Effect.fnUntraced(function* (
  consent: ReadonlyArray<ImportWarning>,
  {
    header,
    likely,
    mapping
  }: { header: ReadonlyArray<string>; likely: ReadonlyArray<readonly [string, string | null]>; mapping: ImportMapping }
) {
  const columns = consent.map(({ column = "" }) => column)
  const said = consent.map(
    ({ column = "", count }) =>
      `${printable(column)} says who wants mail (${count === 0 ? "nobody" : countText(count)} said no)`
  )
  const more = likely.length === 0 ? "" : `, ${looks(likely)}`
  const kept = mapFlags(columns.map((column) => [column, column]))
    .map(shellWord)
    .join(" ")
  return yield* new UsageError({
    code: "Consent",
    message: `${said.join(", ")}${more}; nothing was sent.`,
    hint:
      `Who said no is not to be mailed: ${yield* resumeCommand([], [...mapFlags(likely), ...consentFlags(consent, header, mapping)])}\n` +
      `  or keep ${columns.length === 1 ? "it" : "them"} as custom fields, which stop no mail: ${kept}\n` +
      "  With --save-mapping FILE it need be said only once."
  })
})

/** Fails for the first text below a column without a name, which would be lost. Nothing has been sent. */
const unnamedColumn = Effect.fnUntraced(function* (
  { column, line, text }: NonNullable<UploadSurvey["unnamed"]>,
  unnamed: ReadonlyArray<number>
) {
  const number = `#${column + 1}`
  const without = mapFlags(unnamed.map((at) => [`#${at + 1}`, null]))
  return yield* new UsageError({
    code: "UnnamedColumn",
    message:
      `Column ${ContactColumns.columnLetter(column)} has no name in the header, but line ${line} has a text there: ` +
      `${printable(text.slice(0, 40))}. Nothing was sent.`,
    hint: `Give it a name: --map '${number}=name'\n  or leave out what has none: ${yield* resumeCommand([], without)}`
  })
})

export const command = Command.make(
  "import",
  importFlags,
  Effect.fnUntraced(function* (given) {
    const { defaultStatus, lists, only, onDuplicate } = given
    const mode = { only, defaultStatus } as const
    // A missing key is told before the file is read; the store is opened, or made, afterwards.
    const on = yield* settings
    const output = yield* Output
    const said = yield* mappingOf(given)
    if (given.via === "file" && said.empty === "clear") {
      return yield* usageError(
        "With --via file, the service imports the file, and an empty cell keeps its field there. Nothing was sent.",
        "Import without --via file, or without empty: clear in the file of --mapping."
      )
    }
    const save = given.saveMapping === undefined ? undefined : yield* prepare(given.saveMapping, given)
    const keepDuplicates = given.duplicates === undefined ? undefined : yield* prepare(given.duplicates, given)
    const keepRejected = yield* rejectedRowsOf(given.file, given)
    const file = yield* Effect.catchTags(openImported(given.file, given.sheet), {
      UnreadableFile: (error) => unreadable(error)
    })
    const mapping = { ...said, ...file.mapping }
    const survey = yield* withProgress({ doing: "Reading", unit: "rows" }, (onProgress) =>
      Effect.catchTags(
        surveyContacts(readContacts(file.digested, mapping), { ...mode, mapping, onDuplicate, onProgress }),
        {
          UnreadableFile: (error) => unreadable(error, { file, mapping })
        }
      )
    )
    const { minRows = 0 } = given
    if (survey.read < minRows) {
      return yield* new UsageError({
        code: "TooFewRows",
        message: `The file has ${countText(survey.read)} ${survey.read === 1 ? "row" : "rows"}, and --min-rows asks for ${countText(minRows)}. Nothing was sent.`,
        hint: "See whether the file is whole. If it is, import it with a lower --min-rows."
      })
    }
    const header = survey.header?.cells ?? []
    if (survey.unnamed !== undefined) {
      return yield* unnamedColumn(survey.unnamed, ContactColumns.unnamedColumns(header, mapping))
    }
    const likely = Object.entries(proposedColumns(header, mapping) ?? {})
    const consent = survey.warnings.filter(({ code }) => code === "Consent")
    if (consent.length > 0) return yield* unheardConsent(consent, { header, likely, mapping })
    if (likely.length > 0) return yield* nearlyFields(likely)
    const ignored = ContactColumns.ignoredColumns(header, mapping.columns)
    if (ignored.length > 0) {
      yield* output.note(
        `Only the service sets these columns, so they are not imported: ${printable(ignored.join(", "))}`
      )
    }
    if (save !== undefined) yield* writeMapping(save, mapping)
    const { dryRun, noRecord, plan } = given
    return yield* Effect.gen(function* () {
      yield* checkListNames(lists, given)
      yield* checkNewFields(importedFields(header, mapping), given)
      if (given.failOnWarning) {
        // In a store that is yet to be made all contacts are new.
        const isMade = on._tag === "Remote" || (yield* existingStore) !== undefined
        const warnings = isMade
          ? yield* importWarnings(readContacts(file.again, mapping), survey, { ...mode, snapshot: yield* contactsFile })
          : survey.warnings
        if (warnings.length > 0) return yield* refusedWarnings(warnings)
      }
      if (keepDuplicates !== undefined && survey.header !== undefined && survey.duplicates > 0) {
        const { header, otherLine } = survey
        yield* keepDuplicates(duplicatesFile(readContacts(file.again, mapping), { header, otherLine }))
      }
      const about = RunLogLayer.about(given.file === "-" ? "standard input" : given.file)
      if (given.via === "file") {
        const { resubscribe } = given
        return yield* about(handOver(file, survey, { listName: lists[0], mapping, dryRun, resubscribe }))
      }
      const rows = readContacts(file.again, mapping)
      yield* about(importRows({ ...given, mode, file, rows, survey, mapping, keepRejected }))
    }).pipe(
      Effect.provide(
        RunLogLayer.layerForWrites({
          dryRun,
          previews: plan !== undefined,
          makesStore: true,
          // Of a file without a row that can be sent there is nothing to undo, and nothing changes.
          isKept: !dryRun && !noRecord && plan === undefined && survey.rejected < survey.read
        })
      )
    )
  }, Effect.scoped)
).pipe(
  Command.validate((given) => {
    const { concurrency, dryRun, lists, noRecord, plan, rejected, saveMapping, via } = given
    const { defaultStatus, duplicates, only, onDuplicate } = given
    return refuseFlags(
      [
        via === "file" &&
          (concurrency !== undefined ||
            lists.length > 1 ||
            noRecord ||
            only !== undefined ||
            defaultStatus !== undefined ||
            plan !== undefined ||
            rejected !== undefined ||
            duplicates !== undefined ||
            onDuplicate !== undefined),
        "With --via file, the service imports the file: only one --list can be used, not --concurrency, --plan, " +
          "--rejected, --no-record, --only, --default-status, --duplicates or --on-duplicate."
      ],
      [plan !== undefined && dryRun, "--dry-run shows the plan without a file: use it or --plan."],
      [
        duplicates !== undefined && onDuplicate === "reject",
        "With --on-duplicate reject, rows with the same address are among the rejected ones: omit --duplicates."
      ],
      [duplicates === "-", "Stdout is used for the report: write the duplicates to a file."],
      [saveMapping === "-", "Stdout is used for the report: write the mapping to a file."],
      [plan === "-", "Stdout is used for the summary of the plan: write the plan to a file."]
    )
  }),
  withExamples({
    "roster contacts import contacts.csv --list Newsletter": "",
    "roster contacts import contacts.csv --dry-run": "Show what would be changed, and which rows are invalid",
    "roster contacts import contacts.csv --plan plan.json": "Write the changes to a file for: roster contacts apply",
    "roster contacts import contacts.csv --map 'First Name=FirstName' --delimiter ';'":
      "Map a column with another name",
    "roster contacts import members.csv --map '#4=' --map-value Status:subscribed=Active":
      "Leave out the fourth column, and say what a word means",
    "roster contacts import members.csv --map Mail=Email --save-mapping members.json":
      "Keep what the columns mean, for: --mapping members.json",
    "roster contacts import excel.csv --encoding windows-1252": "Import a file that is not UTF-8",
    "roster contacts import members.xlsx --sheet Members": "Import a sheet of a workbook",
    "roster contacts import left.csv --only existing --set Status=Unsubscribed": "Unsubscribe the people of a file",
    "roster contacts import kunden.csv --kind 'Kunde seit=date:DD.MM.YYYY' --kind Umsatz=number:1.234,56":
      "Store dates and numbers so that rules compare them",
    "roster contacts import contacts.csv.rejected.csv": "Import the corrected rows",
    "zcat contacts.csv.gz | roster contacts import - -o json | jq .rejectedRows":
      "Import from stdin, and print the rejected rows"
  }),
  withHelp({
    groups: {
      "the file": [
        "sheet",
        "map",
        "map-value",
        "kind",
        "set",
        "trim",
        "delimiter",
        "skip-lines",
        "no-header",
        "encoding",
        "mapping",
        "save-mapping"
      ],
      "what to do with it": [
        "list",
        "create-list",
        "new-field",
        "resubscribe",
        "only",
        "default-status",
        "dry-run",
        "plan",
        "max-rejected",
        "min-rows",
        "fail-on-warning",
        "rejected",
        "on-duplicate",
        "duplicates"
      ],
      running: ["force", "no-record", "concurrency", "via"]
    }
  }),
  Command.provideEffectDiscard(({ file, mapping }) => checkInputs([file, mapping]))
)
