/** The report of a run, in one form for imports, plans and undos, printed however the command ends. */
import {
  LeftValue,
  OutdatedContact,
  outcomeWords,
  RunOutcome,
  type RunReport,
  UndoneContact,
  type UndoReport
} from "@roster/workflows"
import { DateTime, Effect, Exit, Schema } from "effect"
import { ExitCodes } from "../../../errors/ExitCodes.ts"
import { ResumeHint } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { runWords, withFlags } from "../import/ImportReport.ts"

/** What the command says beside its report. */
const facts = {
  /** Whether it is of an undo that was only looked at. */
  dryRun: Schema.optionalKey(Schema.Boolean),
  /** The run that an undo is of. */
  undoes: Schema.optionalKey(Schema.String),
  /** The file that has the rejected rows. */
  rejectedFile: Schema.optionalKey(Schema.String),
  /** The number of given addresses that have no contact. */
  notThere: Schema.optionalKey(Schema.Int),
  /** The number of values that a conversion leaves as they are. */
  valuesLeft: Schema.optionalKey(Schema.Int),
  /** The first of them, up to 10,000. */
  leftValues: Schema.optionalKey(Schema.Array(LeftValue))
}

const Facts = Schema.Struct(facts)
export type Facts = typeof Facts.Type

/** What the report of an undo has beside that of another run. */
const ofUndo = {
  unwritableContacts: Schema.optionalKey(Schema.Array(UndoneContact)),
  partlyDone: Schema.optionalKey(Schema.Int),
  stripped: Schema.optionalKey(Schema.Int),
  incomplete: Schema.optionalKey(Schema.Int),
  untold: Schema.optionalKey(Schema.Int),
  unknownChanges: Schema.optionalKey(Schema.Array(Schema.String))
} satisfies Record<Exclude<keyof UndoReport, keyof RunReport>, Schema.Top>

/** The report as JSON (docs/command-line.md). */
export const RunSummary = Schema.Struct({
  command: Schema.Literals(["import", "apply", "update", "convert", "delete", "lists add", "lists remove", "undo"]),
  /** The file with the rows, the plan or the addresses. */
  file: Schema.optionalKey(Schema.String),
  began: Schema.String,
  ended: Schema.String,
  exitCode: Schema.Int,
  ...facts,
  run: Schema.optionalKey(Schema.String),
  ...RunOutcome.fields,
  outdatedContacts: Schema.Array(Schema.Union([UndoneContact, OutdatedContact])),
  ...ofUndo
})

/** The command of a run that carries out a plan. */
export type PlannedCommand = Exclude<typeof RunSummary.Type.command, "import" | "undo">

interface Told {
  readonly report: RunReport | UndoReport
  readonly facts?: Facts
  /** What people read in place of the counts and lists. */
  readonly words?: string
}

const encode = Schema.encodeSync(RunSummary)

/**
 * Does work that tells its report once it has one, or again later. What it told last is printed when it ends, also when it
 * fails or is interrupted. An error that stopped it is told as the failure of the command.
 */
export const reporting = Effect.fnUntraced(function* <A, E, R>(
  { command, file }: Pick<typeof RunSummary.Type, "command"> & { readonly file?: string | undefined },
  work: (tell: (told: Told) => Effect.Effect<void>) => Effect.Effect<A, E, R>
) {
  const codes = yield* ExitCodes
  const hint = yield* ResumeHint
  const began = DateTime.formatIso(yield* DateTime.now)
  let last: Told | undefined
  const tell = (told: Told) =>
    Effect.sync(() => {
      last = told
    })
  const print = Effect.fnUntraced(function* (exit: Exit.Exit<A, E>) {
    if (last === undefined) return
    const { facts = {} } = last
    const report = command === "import" ? withFlags(last.report) : last.report
    const { words = runWords(report, command, facts.rejectedFile) } = last
    if (Exit.hasInterrupts(exit))
      hint.interrupted = outcomeWords(report, { unit: command === "undo" ? "contact" : "row" })
    const { run, ...outcome } = report
    const summary = encode({
      command,
      ...(file === undefined ? {} : { file }),
      began,
      ended: DateTime.formatIso(yield* DateTime.now),
      exitCode: codes.of(exit),
      ...facts,
      ...(run === undefined ? {} : { run }),
      ...outcome
    })
    yield* Results.summary(summary, words)
  })
  // The failure of the work says more than that its report could not be printed.
  return yield* Effect.onExit(work(tell), (exit) => (Exit.isSuccess(exit) ? print(exit) : Effect.ignore(print(exit))))
})
