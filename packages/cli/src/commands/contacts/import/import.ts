/**
 * `roster contacts import`
 */
import { isEncoding, likelyFields, readContacts, type ReadContactsOptions } from "@roster/domain"
import { surveyContacts } from "@roster/workflows"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { openImported } from "./ImportedFile.ts"
import { handOver } from "./ServerSideImport.ts"
import { invalidRows } from "./ImportReport.ts"
import { importRows } from "./ImportRun.ts"
import { checkInputs } from "../../../settings/InputFile.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { count, lists, parsed, parsedEach, refuse, refuseFlags, toggle } from "../../shared/CommonFlags.ts"
import { Output } from "../../../terminal/Output.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { rejectedFlags, rejectedRowsOf } from "./RejectedFile.ts"
import * as Target from "../../../target/Target.ts"
import { quoted } from "../../../terminal/ResumeHint.ts"

/** The public service cuts connections off at 20. */
const mostAtOnce = 16

const encoding = parsed(
  "encoding",
  (name) =>
    isEncoding(name)
      ? Effect.succeed(name)
      : refuse("encoding", "there is no encoding of this name; utf-8, utf-16le and windows-1252 are some"),
  "The encoding of the file, UTF-8 unless said or marked in the file",
  "NAME"
)

const delimiters: { readonly [name: string]: NonNullable<ReadContactsOptions["delimiter"]> } = {
  ",": ",",
  ";": ";",
  tab: "\t"
}

const delimiter = Flag.Literals("delimiter", [",", ";", "tab"]).pipe(
  Flag.map((name) => delimiters[name]),
  Flag.withDescription("What separates the cells, found in the header unless said"),
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
      : refuse("map", "it is written as column=Field, such as 'First Name=FirstName'")
  },
  "What a column is: a field of the contact, or a custom field",
  "column=Field"
)

const importFlags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("A CSV file with a column Email, or - for standard input")
  ),
  lists,
  columns,
  delimiter,
  encoding,
  onInvalid: Flag.Literals("on-invalid", ["skip", "stop"]).pipe(
    Flag.withDescription("Whether rows that are not valid are left out, or nothing is sent where there are some"),
    Flag.withDefault("skip")
  ),
  ...rejectedFlags,
  dryRun,
  concurrency: count("concurrency", "How many requests are under way at once, 8 unless said", 1, mostAtOnce),
  via: Flag.Literals("via", ["batches", "file"]).pipe(
    Flag.withDescription(
      "Whether rows are sent 1000 at a time, each with an answer, or the file is handed over, of which no status exists"
    ),
    Flag.withDefault("batches")
  ),
  restart: toggle("restart", "Begin anew, whatever the journal of an earlier run holds"),
  noJournal: toggle("no-journal", "Keep no journal beside the file; what is stopped begins anew")
}

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
      Effect.catchTag(surveyContacts(readContacts(file.digested, reading), { onProgress }), "PlatformError", (error) =>
        Effect.fail(fileProblem("A temporary file for the addresses", "written")(error))
      )
    )
    for (const [column, field] of likelyFields(survey.header?.cells ?? [], columns)) {
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
    refuseFlags([
      via === "file" &&
        (columns.length > 0 ||
          concurrency !== undefined ||
          delimiter !== undefined ||
          lists.length > 1 ||
          noJournal ||
          rejected !== undefined ||
          restart),
      "With --via file the service reads the file by itself: it takes one --list and --encoding, and no --map, --delimiter, --concurrency, --rejected, --restart or --no-journal."
    ])
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
  Command.provide(Target.layer),
  Command.provideEffectDiscard(({ file }) => checkInputs([file]))
)
