/**
 * `roster contacts import`
 */
import { ContactColumns, readContacts } from "@roster/domain"
import { surveyContacts } from "@roster/workflows"
import { Effect } from "effect"
import { Argument, CliError, Command } from "effect/cli"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { openImported } from "./ImportedFile.ts"
import { importFlags } from "./ImportFlags.ts"
import { handOver } from "./ServerSideImport.ts"
import { invalidRows } from "./ImportReport.ts"
import { importRows } from "./ImportRun.ts"
import { checkInputs } from "../../../settings/InputFile.ts"
import { Output } from "../../../terminal/Output.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { rejectedRowsOf } from "./RejectedFile.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { quoted } from "../../../terminal/ResumeHint.ts"

export const command = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("A CSV file with a column Email, or - for standard input")
    ),
    ...importFlags
  },
  Effect.fnUntraced(function* (given) {
    const { columns, delimiter, encoding, lists } = given
    const output = yield* Output
    const reading = { encoding, delimiter, columns }
    const keepRejected = yield* rejectedRowsOf(given.file, given)
    const file = yield* openImported(given.file)
    const survey = yield* withProgress({ doing: "Reading", unit: "rows" }, (onProgress) =>
      Effect.catchTag(surveyContacts(readContacts(file.digested, reading), { onProgress }), "PlatformError", (error) =>
        Effect.fail(fileProblem("A temporary file for the addresses", "written")(error))
      )
    )
    for (const [column, field] of ContactColumns.likelyFields(survey.header?.cells ?? [], columns)) {
      const map = `--map ${quoted(`${column}=${field}`)}`
      yield* output.note(`${column} is taken as a custom field; ${map} if the contact's own field is meant`)
    }
    if (given.onInvalid === "stop" && survey.invalid > 0) return yield* invalidRows(survey)
    if (given.via === "file") {
      return yield* handOver(file, survey, { listName: lists[0], encoding, dryRun: given.dryRun })
    }
    yield* importRows({ ...given, file, rows: readContacts(file.again, reading), survey, reading, keepRejected })
  }, Effect.scoped)
).pipe(
  Command.validate(({ columns, concurrency, delimiter, lists, noJournal, rejected, restart, via }) =>
    via === "file" &&
    (columns.length > 0 ||
      concurrency !== undefined ||
      delimiter !== undefined ||
      lists.length > 1 ||
      noJournal ||
      rejected !== undefined ||
      restart)
      ? Effect.fail(
          new CliError.ValidationError({
            message:
              "With --via file the service reads the file by itself: it takes one --list and --encoding, and no --map, --delimiter, --concurrency, --rejected, --restart or --no-journal."
          })
        )
      : Effect.void
  ),
  Command.withExamples([
    { command: "roster contacts import contacts.csv --list Newsletter" },
    {
      command: "roster contacts import contacts.csv --dry-run",
      description: "What would be sent, and what is wrong with the rest"
    },
    {
      command: "roster contacts import contacts.csv --map 'First Name=FirstName' --delimiter ';'",
      description: "A column that has another name"
    },
    { command: "roster contacts import excel.csv --encoding windows-1252", description: "A file that is not UTF-8" },
    {
      command: "roster contacts import contacts.csv.rejected.csv",
      description: "The rows that were rejected, once they are corrected"
    },
    {
      command: "zcat contacts.csv.gz | roster contacts import - -o json | jq .rejectedRows",
      description: "From standard input; the rows that were rejected"
    }
  ]),
  Command.provide(TargetLayer.layer),
  Command.provideEffectDiscard(({ file }) => checkInputs([file]))
)
