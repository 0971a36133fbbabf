/**
 * The one place where a failure becomes words and an exit code. What was foreseen has no stack trace; what was not is
 * called a bug. With JSON the last line of stderr is `{"code","message","hint"}`, and `resume` where a command goes on with
 * what was stopped.
 */
import { Cause, Effect, PlatformError, Predicate } from "effect"
import { CliError } from "effect/cli"
import { DryRunRequest } from "../terminal/DryRun.ts"
import { codeOf, exitCode, type Failure, exitInfo } from "./ExitCode.ts"
import { Output } from "../terminal/Output.ts"
import { jsonText, printableLines } from "../terminal/Printable.ts"
import { withoutKeys } from "../settings/TypedKey.ts"
import { hintOf } from "./UnreadAnswer.ts"
import { ResumeHint } from "../terminal/ResumeHint.ts"

interface Report {
  readonly code: string
  readonly message: string
  readonly hint: string
}

const tell = Effect.fnUntraced(function* ({ code, hint, message: said }: Report) {
  const output = yield* Output
  const { command: resume } = yield* ResumeHint
  const message = withoutKeys(said)
  if (output.format === "json" || output.format === "ndjson")
    return yield* output.noteExactly(jsonText({ code, message, hint, ...(resume === undefined ? {} : { resume }) }))
  const resumeLine = resume === undefined ? "" : `\n  Resume with: ${resume}`
  // An error is not for `--quiet` to hide.
  yield* output.noteExactly(printableLines(`error: ${message}\n  ${hint}${resumeLine}`))
})

/** `| head` has seen enough, which is nobody's mistake. */
const isClosedPipe = (failure: Failure): boolean =>
  failure._tag === "PlatformError" &&
  Predicate.hasProperty(failure.reason.cause, "code") &&
  failure.reason.cause.code === "EPIPE"

/** Only our own writing can fail so; files are `UsageError`s where they are opened. */
const messageOf = (failure: Failure): string =>
  failure._tag === "PlatformError"
    ? `Writing failed: ${failure.reason.description ?? failure.message}.`
    : failure.message

const onFailure = Effect.fnUntraced(function* (failure: Failure) {
  if (isClosedPipe(failure)) return exitCode.closedPipe
  yield* tell({ code: codeOf(failure), message: messageOf(failure), hint: yield* hintOf(failure) })
  return exitInfo(failure).exit
})

const onUsage = Effect.fnUntraced(function* (error: CliError.CliError) {
  const path = error._tag === "ShowHelp" ? error.commandPath : []
  const errors = error._tag === "ShowHelp" ? error.errors : [error]
  // The name alone asks for help, and got it.
  if (errors.length === 0 && path.length === 1) return exitCode.ok
  const [first] = errors
  const cause = first?._tag === "UserError" ? first.cause : undefined
  yield* tell({
    code: Predicate.hasProperty(cause, "_tag") && Predicate.isString(cause._tag) ? cause._tag : "UsageError",
    message:
      first === undefined ? `${path.join(" ")} needs a subcommand.` : errors.map((one) => one.message).join("\n"),
    hint: `See: ${path.length === 0 ? "roster" : path.join(" ")} --help`
  })
  return exitCode.usage
})

const onBug = Effect.fnUntraced(function* (defect: unknown) {
  const what = Predicate.isError(defect)
    ? `${defect.name}: ${defect.message.split("\n", 1)[0] ?? ""}`
    : "something that is not an error was thrown"
  yield* tell({
    code: "Bug",
    message: `Unexpected: ${what}`,
    hint: "This is a bug in roster. Please report it, with the command and without your key."
  })
  return exitCode.bug
})

const onRehearsed = (rehearsed: DryRunRequest) =>
  Effect.promise(() => import("../target/DryRunClient.ts")).pipe(
    Effect.flatMap(({ showRehearsed }) => showRehearsed(rehearsed)),
    Effect.as<number>(exitCode.ok),
    Effect.catch(onFailure)
  )

/** Runs a command to its exit code. An interruption passes: whoever sent it knows what it means. */
export const toExitCode = <A, R>(command: Effect.Effect<A, Failure | CliError.CliError, R>) =>
  command.pipe(
    Effect.as<number>(exitCode.ok),
    Effect.catchCause((cause) => {
      const first = cause.reasons.find(Cause.isFailReason)
      if (first !== undefined) return CliError.isCliError(first.error) ? onUsage(first.error) : onFailure(first.error)
      const defect = cause.reasons.find(Cause.isDieReason)
      if (defect === undefined) return Effect.interrupt
      if (defect.defect instanceof DryRunRequest) return onRehearsed(defect.defect)
      // Help is printed where no failure is expected; that nobody reads it is none.
      return PlatformError.isPlatformError(defect.defect) ? onFailure(defect.defect) : onBug(defect.defect)
    }),
    (whole) => Effect.suspend(() => Effect.provideService(whole, ResumeHint, { command: undefined }))
  )
