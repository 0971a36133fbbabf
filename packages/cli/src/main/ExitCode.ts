/** Maps each error, by its tag or its `ServiceError` reason, to a hint and an exit code, a stable interface. */
import type * as Domain from "@roster/domain"
import { Cause, Exit, Layer, PlatformError, Predicate, Record } from "effect"
import { CliError } from "effect/cli"
import { ExitCodes } from "../errors/ExitCodes.ts"
import type { TimeLimitReached } from "../target/TimeLimit.ts"
import type { CommandError } from "./CommandTree.ts"

export const exitCode = {
  ok: 0,
  bug: 1,
  usage: 2,
  declined: 3,
  key: 4,
  notFound: 5,
  conflict: 6,
  refused: 7,
  unavailable: 8,
  partlyDone: 9,
  jobFailed: 10,
  interrupted: 130,
  closedPipe: 141,
  terminated: 143
} as const

/** Every expected failure of a command. */
export type Failure = Exclude<CommandError, CliError.CliError> | TimeLimitReached

interface ExitInfo {
  readonly exit: number
  readonly hint: string
}

const exitWith = (exit: number, hint: string): ExitInfo => ({ exit, hint })

/** The errors that share an exit code. */
const allWith = <Tag extends string>(exit: number, hints: Readonly<Record<Tag, string>>) =>
  Record.map(hints, (hint) => exitWith(exit, hint))

const again = "Try the same command again later."
const wrongAddress = "Check that --base-url or ROSTER_BASE_URL is the address of the service."
const startAgain = "Start a new one with: roster contacts export"

export const reasonExits: { readonly [Reason in Domain.ServiceErrorReason["_tag"]]: ExitInfo } = {
  ...allWith(exitCode.key, {
    Unauthorized: "Check the file or variable that contains the key.",
    AccessDenied: "Use a key that has the level; roster apikeys update NAME --access sets all levels of a key.",
    ExceedsGrantor: "Limit it with --expires or --ip-range, or use a key that expires later and has wider ranges."
  }),
  ...allWith(exitCode.unavailable, {
    RateLimited: again,
    Unavailable: "Check the address and the network, and try again.",
    TimedOut: again,
    OutcomeUnknown: "Check whether it was done before you repeat it.",
    UnexpectedContentType: wrongAddress,
    UnexpectedRedirect: wrongAddress,
    ResponseTooLarge: "Request less at once, with --limit or --rule.",
    InvalidResponse: wrongAddress,
    StoreFailure: "Check the disk, the permissions and other programs that use the store."
  }),
  ...allWith(exitCode.refused, {
    Rejected: "Change the request as described by the service.",
    RunRefused: "Run the command again, which begins a run of its own."
  })
}

export const exits: { readonly [Tag in Exclude<Failure["_tag"], "ServiceError" | "UsageError">]: ExitInfo } = {
  ...allWith(exitCode.usage, {
    ConflictingFilter: "Omit --rule or the addresses.",
    TooManyContacts: "Put them in a file and use: roster contacts import FILE",
    TooManyRows: "Nothing was sent. Divide the file, and import the parts one after another, or use --via file.",
    UnreadableFile: "Nothing was sent. Correct the file.",
    UnreadableExport: "Nothing was sent. Run the command again.",
    UnreadablePlan: "Nothing was sent. Use the whole file that roster contacts import --plan wrote.",
    OtherTarget: "Nothing was changed. Set the service or store that it is for, with --db, --base-url or --profile.",
    InvalidSettings: "Correct the flag or the variable of this setting.",
    BackupRefused: "Nothing was changed. Use another backup, or an empty database.",
    CertificateError: "Nothing was started. Correct the files of --tls-cert and --tls-key."
  }),
  Declined: exitWith(
    exitCode.declined,
    "Without a terminal, confirm with --yes; for large deletions, also with --confirm COUNT."
  ),
  MissingKey: exitWith(exitCode.key, "Save a key with roster auth login, set ROSTER_API_KEY, or use --api-key-file."),
  ...allWith(exitCode.notFound, {
    NoStore: "An import makes one: roster contacts import FILE. To use another one, give its file with --db.",
    ContactNotFound: "List the contacts with: roster contacts list",
    CredentialNotFound:
      "List the names with: roster apikeys list, or roster smtp list; for a subaccount, add --subaccount.",
    ExportNotFound: startAgain,
    JobNotFound: "List the jobs with: roster jobs list",
    ListNotFound: "List the names with: roster lists list; --list of contacts add and import makes one.",
    EmailNotFound: "List the e-mails with: roster emails list",
    RunNotFound: "List the runs with: roster contacts runs",
    SavedRuleNotFound: "List the names with: roster rules list",
    NotOnList: "See who is on it with: roster contacts list --on NAME"
  }),
  ...allWith(exitCode.conflict, {
    PlanOutdated: "Nothing was sent. Plan the import again, or leave these contacts out with --skip-changed.",
    RunTaken:
      "Nothing was changed. Wait for the other command, or stop it, and run this one again: a minute later, if that was killed.",
    JobEnded: "See its result with: roster jobs get ID",
    ContactExists: "Change it with: roster contacts update",
    ContactChanged: "Look at it with roster contacts get, and change it again.",
    NotChangeable: "Change it where the service lets you, or add the contact again with roster contacts add.",
    WouldResubscribe: "Ask the person, and run the command with --resubscribe.",
    NameTaken: "Choose another name, or change the existing one with update.",
    IdempotencyKeyInUse: "Another command is at the same. Look at what it made.",
    IdempotencyKeyReused: again,
    LastManagingKey:
      "Create another one first with: roster apikeys create NAME --access ModifyAccessTokens; or use --db on " +
      "the machine of the store.",
    TooManyCredentials: "Delete one that is no longer used.",
    RotationRefused: "Nothing was changed. Show the credential with: roster apikeys get, or roster smtp get"
  }),
  ...allWith(exitCode.partlyDone, {
    NotReplaced: "Mend what the message names, and run the same command again.",
    NotDelivered: "The new secret was discarded, and the old one still works. Correct the command and try again.",
    PartlyDone: "Correct what was rejected and run the command again: existing contacts are updated."
  }),
  ...allWith(exitCode.refused, {
    InvalidInput: "The service refused it. Change the input as described.",
    InvalidRule: "The service refused the rule. Change it as described.",
    ImportRefused: "Change the file as described by the service.",
    NotAllowedSender: "Use another sender. A service of ours takes those of roster serve --allow-sender."
  }),
  ...allWith(exitCode.unavailable, {
    ExportPollingFailed: startAgain,
    ExportTimedOut: startAgain,
    StoreDamaged: "Restore a backup with: roster restore FILE, or use another store with --db.",
    RunLogFailure: "Check the disk and the file that the message names; without it, the run cannot be resumed.",
    StoreUnavailable: "Check the path, or use another file with --db.",
    ServeError: "Use another --port, --host or --metrics-listen, or stop the program that uses it.",
    TimeLimitReached: "First check whether anything was done, then allow more time with --timeout.",
    Unhealthy: "See the checks that failed, and what to do about each."
  }),
  ...allWith(exitCode.jobFailed, {
    ExportFailed: startAgain,
    ExportExpired: startAgain
  }),
  PlatformError: exitWith(exitCode.bug, "Check the disk and where the output goes.")
}

/** The hint for a missing access level, which a key for the purpose of the operation has. */
export const missingLevel = (required: Domain.ReportedAccessLevel, purpose: Domain.Purpose | undefined): string => {
  const levelFlag = purpose === undefined ? `--access ${required}` : `--for ${purpose}`
  return `Use a key that has the level ${required}. To create one with only this level: roster apikeys create NAME ${levelFlag}`
}

const untrusted = exitWith(
  exitCode.unavailable,
  "Check the address and the certificate of the service. Name the file of a private authority by NODE_EXTRA_CA_CERTS."
)

/** The exit code and the hint of a failure. */
export const exitInfo = (failure: Failure): ExitInfo => {
  switch (failure._tag) {
    case "ServiceError": {
      const { reason } = failure
      if (reason._tag !== "Unavailable") return reasonExits[reason._tag]
      if (reason.isPermanent === true) return untrusted
      // What answered with a status or a time to wait was reached.
      const isReached = reason.status !== undefined || reason.retryAfter !== undefined
      return isReached ? reasonExits.RateLimited : reasonExits.Unavailable
    }
    case "StoreUnavailable":
      if (failure.isOlder === true) {
        return exitWith(
          exitCode.unavailable,
          "roster upgrade says what it rewrites, and keeps a copy. Give it the same --db."
        )
      }
      return failure.isLocked === true
        ? exitWith(exitCode.unavailable, "The other process may only be busy. To use another store, set --db.")
        : failure.filename.startsWith("postgres://")
          ? exitWith(exits.StoreUnavailable.exit, "See what is missing with: roster doctor --database-url URL")
          : exits.StoreUnavailable
    case "UsageError":
      return exitWith(exitCode.usage, failure.hint)
    case "PartlyDone":
    case "Declined": {
      const { exit, hint } = exits[failure._tag]
      return exitWith(exit, failure.hint ?? hint)
    }
    case "InvalidSettings":
      return failure.setting === "apiKey" ? exits.MissingKey : exits.InvalidSettings
    default:
      return exits[failure._tag]
  }
}

/** A closed reader such as `| head` is no failure. */
export const isClosedPipe = (failure: Failure): boolean =>
  failure._tag === "PlatformError" &&
  Predicate.hasProperty(failure.reason.cause, "code") &&
  failure.reason.cause.code === "EPIPE"

const isFailure = (error: unknown): error is Failure =>
  Predicate.hasProperty(error, "_tag") &&
  Predicate.isString(error._tag) &&
  (error._tag in exits || error._tag === "ServiceError" || error._tag === "UsageError")

/** The exit code of a command that fails so; of one that is interrupted, the code of its signal, or that of `--timeout`. */
export const exitCodeOf = ({ reasons }: Cause.Cause<unknown>, signalled: number | undefined): number => {
  const failed = reasons.find(Cause.isFailReason)?.error
  const died = reasons.find(Cause.isDieReason)?.defect
  if (failed === undefined && died === undefined) return signalled ?? exits.TimeLimitReached.exit
  if (CliError.isCliError(failed)) return exitCode.usage
  // The presenter of help cannot fail, so a closed pipe reaches it as a defect.
  const failure = failed ?? (PlatformError.isPlatformError(died) ? died : undefined)
  if (!isFailure(failure)) return exitCode.bug
  return isClosedPipe(failure) ? exitCode.closedPipe : exitInfo(failure).exit
}

/** The exit codes, for commands; `signalled` gives the code of a signal that came. */
export const layerExitCodes = (signalled: () => number | undefined) =>
  Layer.succeed(ExitCodes, {
    of: Exit.match({ onSuccess: () => exitCode.ok, onFailure: (cause) => exitCodeOf(cause, signalled()) })
  })

/** The code that identifies a failure for programs. */
export const codeOf = (failure: Failure): string => {
  switch (failure._tag) {
    case "ServiceError":
      return failure.reason._tag
    case "UsageError":
      return failure.code
    case "PlatformError":
      return "WriteFailed"
    default:
      return failure._tag
  }
}
