/** Uploads a file for the service to import. The interface has no status for such an import. */
import {
  type AddOptions,
  ContactsService,
  type ImportMapping,
  ImportSource,
  RunsService,
  UnreadableFile
} from "@roster/domain"
import { importNotGuarded } from "@roster/domain/internal"
import { RunLog, type UploadSurvey } from "@roster/workflows"
import { Effect, Path, PlatformError, Stream } from "effect"
import { fileProblem } from "../../../errors/FileProblem.ts"
import type { ImportedFile } from "../../shared/ImportedFile.ts"
import { warningWords } from "./ImportReport.ts"
import { commandHere } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { settings } from "../../../settings/Settings.ts"
import { Target } from "../../../target/Target.ts"
import { usageError, UsageError } from "../../../errors/UsageError.ts"

/** Whether the service reads the file as it was read here: it is CSV, of which only the encoding is said, and which columns are kept. */
const isPlain = ({ header }: UploadSurvey, { columns = {}, ...mapping }: ImportMapping): boolean =>
  header?.format === undefined &&
  Object.entries(columns).every(([column, field]) => column === field) &&
  Object.keys(mapping).every((said) => said === "encoding")

/** The name of a file without that of its compression, which is taken off here. */
const nameOf = (file: string): string => {
  const name = file.replace(/\.(?:zip|gz)$/i, "")
  return name === file || /\.csv$/i.test(name) ? name : `${name}.csv`
}

/** The content with the error type that an import source has. */
const contentOf = <E>(file: ImportedFile, content: Stream.Stream<Uint8Array, E>) =>
  Stream.mapError(content, (cause) =>
    PlatformError.systemError({
      _tag: "InvalidData",
      module: "ImportedFile",
      method: "again",
      pathOrDescriptor: file.path,
      cause
    })
  )

const sourceProblem = ({ path }: ImportedFile, error: PlatformError.PlatformError) =>
  error.reason.cause instanceof UsageError || error.reason.cause instanceof UnreadableFile
    ? error.reason.cause
    : fileProblem(path, "read")(error)

const notGuarded = (target: string): UsageError =>
  usageError(
    `${target} does not say that its import keeps the status of contacts who have unsubscribed, and the file ` +
      "gives a status. Nothing was sent.",
    "Import without --via file, which reads these contacts first, or add --resubscribe."
  )

/** Uploads a surveyed file, or reports what would be uploaded. */
export const handOver = Effect.fnUntraced(function* (
  file: ImportedFile,
  survey: UploadSurvey,
  options: {
    readonly listName: string | undefined
    readonly mapping: ImportMapping
    readonly resubscribe: AddOptions["resubscribe"]
    readonly dryRun: boolean
  }
) {
  const path = yield* Path.Path
  const contacts = yield* ContactsService
  const target = yield* Target
  const { dryRun, listName, mapping } = options
  if (!isPlain(survey, mapping)) {
    const why = survey.header?.format === undefined ? "its mapping has more than an encoding" : "it is no CSV file"
    return yield* usageError(
      `With --via file, the service reads the file as it is, and cannot read this one: ${why}. Nothing was sent.`,
      "Import without --via file, or use a CSV file with the headings of an export."
    )
  }
  const { duplicates, mayResubscribe, read, rejected, warnings } = survey
  // Without a status in the file that may lower one, a service need not say what it does with it.
  const resubscribe = options.resubscribe ?? (mayResubscribe ? false : undefined)
  const counts = { read, rejected, duplicates, ...(warnings.length === 0 ? {} : { warnings }) }
  const odd = warningWords(warnings)
    .map((line) => `\n${line}`)
    .join("")
  const found = `${read} rows, ${rejected} rejected, ${duplicates} duplicates`
  if (dryRun) {
    return yield* Results.summary(
      { dryRun: true, target: target.name, via: "file", ...counts },
      `The file would be uploaded to ${target.name}: ${found}.${odd}\nNothing was sent.`
    )
  }
  yield* file.unchanged
  const source = ImportSource.File({
    name: nameOf(path.basename(file.path)),
    content: contentOf(file, file.again),
    replayable: true
  })
  const importing = contacts.import(source, { listName, encodingName: mapping.encoding, resubscribe }).pipe(
    Effect.catchTags({
      PlatformError: (error) => Effect.fail(sourceProblem(file, error)),
      ImportRefused: (error) => Effect.fail(error.reason === importNotGuarded ? notGuarded(target.name) : error)
    })
  )
  yield* (yield* (yield* RunsService).areKept)
    ? Effect.scoped(
        Effect.gen(function* () {
          const run = yield* (yield* RunLog).open({ command: "import" })
          yield* run.write(importing)
          // It is taken until its job has ended.
          yield* run.end
        })
      )
    : importing
  const isLocal = (yield* settings)._tag === "Local"
  const status = isLocal
    ? `Check its progress with: ${yield* commandHere(["jobs", "list"])}`
    : "The interface has no status of imports: check the contacts themselves."
  yield* Results.summary(
    { handedOver: true, ...counts, status },
    `${target.name} is importing the file: ${found}.${odd}\n${status}`
  )
})
