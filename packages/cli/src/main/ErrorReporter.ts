/**
 * Turns failures into messages and exit codes; unexpected ones are reported as bugs. With JSON the last line of stderr
 * is `{"code","message","hint"}`, `resume` if a command resumes the interrupted work, `run` and `undo` if changes were recorded,
 * and the `requestId` of the service.
 */
import type { ServiceError } from "@roster/domain"
import { shellWord } from "@roster/workflows"
import type { StoreError } from "@roster/server"
import { Cause, Effect, PlatformError, Predicate } from "effect"
import { CliError } from "effect/cli"
import { withoutKeys } from "../terminal/KeyMask.ts"
import { type CommandEnd, report } from "../terminal/Output.ts"
import { ResumeHint } from "../terminal/ResumeHint.ts"
import { commandsOfGroups } from "./CommandTree.ts"
import { codeOf, exitCode, exitCodeOf, exitInfo, type Failure, isClosedPipe, missingLevel } from "./ExitCode.ts"

const tell = Effect.fnUntraced(function* (end: Omit<CommandEnd, "resume">) {
  const { code, requestId } = end
  const { command: resume, interrupted, undo } = yield* ResumeHint
  const message = withoutKeys(interrupted === undefined ? end.message : `${end.message} ${interrupted}`)
  const hint = withoutKeys(end.hint)
  const resumeLine = resume === undefined ? "" : `\n  Resume with: ${resume}`
  const idLine = requestId === undefined ? "" : `\n  Request id: ${requestId}`
  yield* report(
    { code, message, hint, resume, run: undo?.run, undo: undo?.command, requestId },
    `error: ${message}\n  ${hint}${idLine}${resumeLine}`
  )
})

/** Says how far interrupted work came, and how it goes on. Of what leaves nothing behind, there is nothing to say. */
const onInterrupt = Effect.gen(function* () {
  const { command: resume, interrupted, undo } = yield* ResumeHint
  if (interrupted === undefined && resume === undefined) return
  const message = `The command was interrupted${interrupted === undefined ? "." : `: ${interrupted}`}`
  const hint = resume === undefined ? "It is safe to run the same command again." : `Resume with: ${resume}`
  yield* report(
    { code: "Interrupted", message, hint, resume, run: undo?.run, undo: undo?.command },
    `${message}\n  ${hint}`
  )
})

/** Only writing the output fails with a `PlatformError`; problems with files are `UsageError`s where they are opened. */
const messageOf = (failure: Failure): string =>
  failure._tag === "PlatformError"
    ? `Writing failed: ${failure.reason.description ?? failure.message}.`
    : failure.message

/** Only failures need the contract. */
const operationOf = (id: string) =>
  Effect.map(
    Effect.promise(() => import("@roster/api/Operation")),
    ({ operations }) => operations.get(id)
  )

/** Whether nobody knows if a request was carried out: its answer cannot be read, and is no refusal of the service itself. */
const isUnreadAnswer = ({ mayHaveHappened, reason }: ServiceError): boolean => {
  // The message of an unknown outcome already says how to find out.
  if (!mayHaveHappened || reason._tag === "OutcomeUnknown") return false
  return reason._tag === "UnexpectedContentType" || !("status" in reason && reason.status >= 400 && reason.status < 500)
}

/** The hint of a failure. After a write with an unreadable answer, it first says how to check whether it was done. */
const hintOf = Effect.fnUntraced(function* (failure: Failure) {
  const { hint } = exitInfo(failure)
  if (failure._tag !== "ServiceError") return hint
  const operation = yield* operationOf(failure.operation)
  if (failure.reason._tag === "AccessDenied") return missingLevel(failure.reason.required, operation?.purpose)
  const isRead = operation !== undefined && operation.retries.recovery === undefined
  if (!isUnreadAnswer(failure) || isRead) return hint
  const { look } = yield* ResumeHint
  const caution =
    look === undefined
      ? "The service may have carried it out: check before you repeat it."
      : `The service may have carried it out: check with ${look} before you repeat it (the secret is lost: ` +
        "delete the credential and create it again)."
  // A write cannot ask for less.
  return failure.reason._tag === "ResponseTooLarge" ? caution : `${caution} ${hint}`
})

const onFailure = Effect.fnUntraced(function* (failure: Failure) {
  if (isClosedPipe(failure)) return
  const requestId = failure._tag === "ServiceError" ? failure.requestId : undefined
  yield* tell({ code: codeOf(failure), message: messageOf(failure), hint: yield* hintOf(failure), requestId })
})

/** The message of effect/cli in one line: it lists suggestions on lines of their own. */
const inOneLine = (message: string): string =>
  message.replace(/(?<!\s)\s*Did you mean this\?([^]*)/, (_, names: string) => {
    return `. Did you mean ${names.trim().split(/\s+/).join(" or ")}?`
  })

/** The message of a wrong command line. A command that is named without its group is found in its groups. */
const usageMessage = (error: CliError.CliError): string => {
  const suggestions =
    error._tag === "UnknownSubcommand" && error.parent?.length === 1 ? commandsOfGroups(error.subcommand) : []
  return suggestions.length === 0
    ? inOneLine(error.message)
    : `${error.message.split("\n", 1)[0] ?? ""}. Did you mean ${suggestions.join(" or ")}?`
}

/** The commands that find contacts by flags, and whether they know lists. */
const finding: ReadonlyMap<string, boolean> = new Map([
  ["roster contacts list", true],
  ["roster contacts export", true],
  ["roster contacts count", false]
])

/** How to search for a text that stands behind a command which finds contacts by flags. */
const searchHint = (error: CliError.CliError | undefined, command: string): string | undefined => {
  const knowsLists = finding.get(command)
  const word = error?._tag === "UnexpectedArgument" ? error.arguments[0] : undefined
  if (knowsLists === undefined || word === undefined) return undefined
  const text = `'${word.replaceAll("'", "''")}'`
  const rule = `email contains ${text} OR firstname contains ${text} OR lastname contains ${text}`
  const onList = knowsLists ? `\n  or, of the list of this name: ${command} --on ${shellWord(word)}` : ""
  return `Search by a rule: ${command} --rule ${shellWord(rule)}${onList}`
}

const onUsage = Effect.fnUntraced(function* (error: CliError.CliError) {
  const path = error._tag === "ShowHelp" ? error.commandPath : []
  const errors = error._tag === "ShowHelp" ? error.errors : [error]
  // `roster` alone asks for help.
  if (errors.length === 0 && path.length === 1) return exitCode.ok
  const [first] = errors
  const cause = first?._tag === "UserError" ? first.cause : undefined
  yield* tell({
    code: Predicate.hasProperty(cause, "_tag") && Predicate.isString(cause._tag) ? cause._tag : "UsageError",
    message: first === undefined ? `${path.join(" ")} needs a subcommand.` : errors.map(usageMessage).join("\n"),
    hint: searchHint(first, path.join(" ")) ?? `See: ${path.length === 0 ? "roster" : path.join(" ")} --help`
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
})

/** Whether a store, which could be upgraded when a command began, could not be at its first write: a client has no error for it. */
const isStoreError = (defect: unknown): defect is StoreError =>
  Predicate.isTagged(defect, "StoreUnavailable") || Predicate.isTagged(defect, "StoreDamaged")

/** Runs a command and returns its exit code. Interruption passes through: the process that sent the signal knows why. */
export const toExitCode = <A, R>(command: Effect.Effect<A, Failure | CliError.CliError, R>) =>
  command.pipe(
    Effect.as<number>(exitCode.ok),
    Effect.onInterrupt(() => onInterrupt),
    Effect.catchCause((cause) => {
      const error = cause.reasons.find(Cause.isFailReason)?.error
      if (CliError.isCliError(error)) return onUsage(error)
      const defect = cause.reasons.find(Cause.isDieReason)?.defect
      if (error === undefined && defect === undefined) return Effect.interrupt
      const failure = error ?? (PlatformError.isPlatformError(defect) || isStoreError(defect) ? defect : undefined)
      return Effect.as(failure === undefined ? onBug(defect) : onFailure(failure), exitCodeOf(cause, undefined))
    }),
    (whole) => Effect.suspend(() => Effect.provideService(whole, ResumeHint, { command: undefined }))
  )
