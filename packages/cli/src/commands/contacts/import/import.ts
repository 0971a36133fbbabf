/** `roster contacts import` */
import { ContactColumns, isEncoding, readContacts, type ReadContactsOptions } from "@roster/domain"
import { surveyContacts } from "@roster/workflows"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { openImported } from "./ImportedFile.ts"
import { handOver } from "./ServerSideImport.ts"
import { invalidRows } from "./ImportReport.ts"
import { importRows } from "./ImportRun.ts"
import { checkInputs } from "../../../settings/InputFile.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { parsed, parsedEach, text, toggle } from "../../../settings/FlagForms.ts"
import { count, lists, refuseFlags, resubscribe, withExamples } from "../../shared/CommonFlags.ts"
import { Output } from "../../../terminal/Output.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { rejectedFlags, rejectedRowsOf } from "./RejectedFile.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { refuse, UsageError } from "../../../errors/UsageError.ts"
import { printable } from "../../../terminal/Printable.ts"
import { resumeCommand, shellWord } from "../../../terminal/ResumeHint.ts"

/** The public service refuses more than 20 connections. */
const mostAtOnce = 16

const encoding = parsed(
  "encoding",
  (name) =>
    isEncoding(name)
      ? Effect.succeed(name)
      : refuse("encoding", "unknown encoding; examples are utf-8, utf-16le and windows-1252"),
  "Encoding of the file (default: UTF-8, or as marked in the file)",
  "NAME"
)

const delimiters: { readonly [name: string]: NonNullable<ReadContactsOptions["delimiter"]> } = {
  ",": ",",
  ";": ";",
  tab: "\t"
}

const delimiter = Flag.Literals("delimiter", [",", ";", "tab"]).pipe(
  Flag.map((name) => delimiters[name]),
  Flag.withDescription("Cell delimiter (default: detected from the header)"),
  Flag.withDefault(undefined)
)

const columns = parsedEach(
  "map",
  (given) => {
    const at = given.lastIndexOf("=")
    const column = given.slice(0, at).trim()
    const field = given.slice(at + 1).trim()
    return at > 0 && column !== "" && field !== ""
      ? Effect.succeed([column, field] as const)
      : refuse("map", "write it as column=Field, such as 'First Name=FirstName'")
  },
  "Map a column to a field of the contact or to a custom field",
  "column=Field"
)

const importFlags = {
  file: Argument.String("file").pipe(Argument.withDescription("CSV file with a column Email, or - for stdin")),
  lists,
  columns,
  delimiter,
  encoding,
  onInvalid: Flag.Literals("on-invalid", ["skip", "stop"]).pipe(
    Flag.withDescription("Skip invalid rows, or send nothing if there are any (default: skip)"),
    Flag.withDefault("skip")
  ),
  ...rejectedFlags,
  resubscribe,
  dryRun,
  plan: text(
    "plan",
    "Write what would be changed to FILE, and send nothing; carry it out with: roster contacts apply FILE. " +
      "The file holds personal data, and only you can read it",
    "FILE"
  ),
  noRecord: toggle("no-record", "Record nothing: the import can neither be undone nor go on after an interruption"),
  noResume: toggle("no-resume", "Begin a new run, even if an earlier one of the same rows did not come to its end"),
  concurrency: count("concurrency", "Maximum number of concurrent requests (default: 8)", 1, mostAtOnce),
  via: Flag.Literals("via", ["batches", "file"]).pipe(
    Flag.withDescription(
      "Send batches of 1000 rows with a result for each row, or upload the file for the service to import, " +
        "without a status (default: batches)"
    ),
    Flag.withDefault("batches")
  )
}

/** Fails with the command line that maps the columns of a header that are nearly fields. Nothing has been sent. */
const nearlyFields = Effect.fnUntraced(function* (
  likely: ContactColumns.ColumnMap,
  message = `${likely.map(([column, field]) => `${printable(column)} looks like ${field}`).join(", ")}; nothing was sent.`
) {
  const maps = likely.flatMap(([column, field]) => ["--map", `${column}=${field}`])
  const [column] = likely.find(([, field]) => field !== "Email") ?? []
  const own = column === undefined ? "" : `\n  or keep one as a custom field: --map ${shellWord(`${column}=${column}`)}`
  return yield* new UsageError({
    code: "NearlyFields",
    message,
    hint: `Import them as these fields: ${yield* resumeCommand([], maps)}${own}`
  })
})

export const command = Command.make(
  "import",
  importFlags,
  Effect.fnUntraced(function* (given) {
    const { columns, delimiter, encoding, lists } = given
    const output = yield* Output
    const reading = { encoding, delimiter, columns }
    const keepRejected = yield* rejectedRowsOf(given.file, given)
    const file = yield* openImported(given.file)
    const survey = yield* withProgress({ doing: "Reading", unit: "rows" }, (onProgress) =>
      Effect.catchTags(surveyContacts(readContacts(file.digested, reading), { onProgress }), {
        UnreadableFile: (error) =>
          error.likelyFields === undefined || given.via === "file"
            ? Effect.fail(error)
            : nearlyFields(error.likelyFields, error.message)
      })
    )
    const likely = ContactColumns.likelyFields(survey.header?.cells ?? [], columns)
    if (likely.length > 0 && given.via === "batches") return yield* nearlyFields(likely)
    for (const [column, field] of likely) {
      yield* output.note(`${column} becomes a custom field; to import it as ${field}, rename it in the file`)
    }
    if (given.onInvalid === "stop" && survey.invalid > 0) return yield* invalidRows(survey)
    if (given.via === "file") {
      const { dryRun, resubscribe } = given
      return yield* handOver(file, survey, { listName: lists[0], encoding, dryRun, resubscribe })
    }
    yield* importRows({ ...given, file, rows: readContacts(file.again, reading), survey, reading, keepRejected })
  }, Effect.scoped)
).pipe(
  Command.validate(({ columns, concurrency, delimiter, dryRun, lists, noRecord, noResume, plan, rejected, via }) =>
    refuseFlags(
      [
        via === "file" &&
          (columns.length > 0 ||
            concurrency !== undefined ||
            delimiter !== undefined ||
            lists.length > 1 ||
            noRecord ||
            noResume ||
            plan !== undefined ||
            rejected !== undefined),
        "With --via file, the service reads the file: only one --list and --encoding can be used, not --map, " +
          "--delimiter, --concurrency, --plan, --rejected, --no-record or --no-resume."
      ],
      [plan !== undefined && dryRun, "--dry-run shows the plan without a file: use it or --plan."],
      [plan === "-", "Stdout is used for the summary of the plan: write the plan to a file."]
    )
  ),
  withExamples({
    "roster contacts import contacts.csv --list Newsletter": "",
    "roster contacts import contacts.csv --dry-run": "Show what would be changed, and which rows are invalid",
    "roster contacts import contacts.csv --plan plan.json": "Write the changes to a file for: roster contacts apply",
    "roster contacts import contacts.csv --map 'First Name=FirstName' --delimiter ';'":
      "Map a column with another name",
    "roster contacts import excel.csv --encoding windows-1252": "Import a file that is not UTF-8",
    "roster contacts import contacts.csv.rejected.csv": "Import the corrected rows",
    "zcat contacts.csv.gz | roster contacts import - -o json | jq .rejectedRows":
      "Import from stdin, and print the rejected rows"
  }),
  Command.provide(({ dryRun, noRecord, plan, via }) =>
    RunLogLayer.layerForWrites({ dryRun, isKept: !dryRun && !noRecord && plan === undefined && via === "batches" })
  ),
  Command.provideEffectDiscard(({ file }) => checkInputs([file]))
)
