/**
 * `roster contacts import`
 */
import { isEncoding, readContacts, uploadContacts } from "@roster/domain"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { importOutcome, importSummary, importWords } from "../../ImportReport.ts"
import { checkInputs, readBytes } from "../../InputFile.ts"
import { lists } from "../../Inputs.ts"
import * as Results from "../../Results.ts"
import * as Target from "../../Target.ts"
import { invalid, refusedInput } from "../../UsageError.ts"

export const importCommand = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("A CSV file with a column Email, or - for standard input")
    ),
    lists,
    encoding: Flag.String("encoding").pipe(
      Flag.mapEffect((name) =>
        isEncoding(name)
          ? Effect.succeed(name)
          : refusedInput(
              Effect.fail(
                invalid("encoding", "there is no encoding of this name; utf-8, utf-16le and windows-1252 are some")
              )
            )
      ),
      Flag.withMetavar("NAME"),
      Flag.withDescription("The encoding of the file, UTF-8 unless said or marked in the file"),
      Flag.withDefault(undefined)
    )
  },
  Effect.fnUntraced(function* ({ encoding, file, lists }) {
    const rows = readContacts(yield* readBytes(file), { encoding })
    const report = yield* uploadContacts(rows, { listNames: lists.length === 0 ? undefined : lists })
    yield* Results.summary(importSummary(report), importWords(report))
    yield* importOutcome(report)
  })
).pipe(
  Command.withDescription("Add the contacts of a CSV file, or update those that are there"),
  Command.withExamples([
    { command: "roster contacts import contacts.csv --list Newsletter" },
    { command: "roster contacts import excel.csv --encoding windows-1252", description: "A file that is not UTF-8" },
    {
      command: "zcat contacts.csv.gz | roster contacts import - -o json | jq .rejectedRows",
      description: "From standard input; the rows that were rejected"
    }
  ]),
  Command.provide(Target.layer),
  Command.provideEffectDiscard(({ file }) => checkInputs([file]))
)
