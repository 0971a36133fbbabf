/**
 * Maps each error, by its tag or by the reason of a `ServiceError`, to an exit code and a hint for the user. The codes are a
 * stable interface.
 */
import { purposeOf } from "@roster/api/Purpose"
import type * as Domain from "@roster/domain"
import type * as Workflows from "@roster/workflows"
import type { InvalidSettings } from "@roster/http-client"
import type { JobEnded, JobNotFound, RosterServer, SqlServices, StoreBackup } from "@roster/server"
import type { PlatformError } from "effect"
import type { Declined } from "../commands/shared/Confirm.ts"
import type { Unhealthy } from "../commands/setup/doctor.ts"
import type { PartlyDone, UsageError } from "../errors/UsageError.ts"
import type { MissingKey } from "../settings/ApiKeySource.ts"
import type { TimeLimitReached } from "../target/TimeLimit.ts"

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
export type Failure =
  | Domain.ConflictingFilter
  | Domain.ContactNotFound
  | Domain.CredentialNotFound
  | Domain.ExportExpired
  | Domain.ExportFailed
  | Domain.ExportInterrupted
  | Domain.ExportNotFound
  | Domain.ExportTimedOut
  | Domain.ImportRefused
  | Domain.InvalidInput
  | Domain.InvalidRule
  | Domain.LastManagingKey
  | Domain.ListNotFound
  | Domain.NameTaken
  | Domain.NotAllowedSender
  | Workflows.OtherUpload
  | Workflows.RotationRefused
  | Domain.ServiceError
  | Workflows.StillInUse
  | Domain.TooManyContacts
  | Domain.TooManyCredentials
  | Workflows.UnreadableBackup
  | Domain.UnreadableFile
  | InvalidSettings
  | SqlServices.StoreError
  | StoreBackup.BackupRefused
  | RosterServer.ServeError
  | JobEnded
  | JobNotFound
  | PlatformError.PlatformError
  | Declined
  | MissingKey
  | PartlyDone
  | TimeLimitReached
  | Unhealthy
  | UsageError

export interface ExitInfo {
  readonly exit: number
  readonly hint: string
}

const exitWith = (exit: number, hint: string): ExitInfo => ({ exit, hint })

const again = "Try the same command again later."

export const reasonExits: { readonly [Reason in Domain.ServiceErrorReason["_tag"]]: ExitInfo } = {
  Unauthorized: exitWith(exitCode.key, "Check the file or variable that contains the key."),
  AccessDenied: exitWith(
    exitCode.key,
    "Use a key that has the level; roster apikeys update NAME --access sets all levels of a key."
  ),
  ExceedsGrantor: exitWith(
    exitCode.key,
    "Limit it with --expires or --ip-range, or use a key that expires later and has wider ranges."
  ),
  RateLimited: exitWith(exitCode.unavailable, again),
  Unavailable: exitWith(exitCode.unavailable, "Check the address and the network, and try again."),
  TimedOut: exitWith(exitCode.unavailable, again),
  OutcomeUnknown: exitWith(exitCode.unavailable, "Check whether it was done before you repeat it."),
  UnexpectedContentType: exitWith(
    exitCode.unavailable,
    "Check that --base-url or ROSTER_BASE_URL is the address of the service."
  ),
  UnexpectedRedirect: exitWith(
    exitCode.unavailable,
    "Check that --base-url or ROSTER_BASE_URL is the address of the service."
  ),
  ResponseTooLarge: exitWith(exitCode.unavailable, "Request less at once, with --limit or --rule."),
  InvalidResponse: exitWith(
    exitCode.unavailable,
    "Check that --base-url or ROSTER_BASE_URL is the address of the service."
  ),
  Rejected: exitWith(exitCode.refused, "Change the request as described by the service."),
  StoreFailure: exitWith(exitCode.unavailable, "Check the disk, the permissions and other programs that use the store.")
}

export const exits: { readonly [Tag in Exclude<Failure["_tag"], "ServiceError" | "UsageError">]: ExitInfo } = {
  ConflictingFilter: exitWith(exitCode.usage, "Omit --rule or the addresses."),
  TooManyContacts: exitWith(exitCode.usage, "Put them in a file and use: roster contacts import FILE"),
  UnreadableFile: exitWith(
    exitCode.usage,
    "Nothing was sent. Correct the file, or set how to read it: --encoding, --delimiter, --map COLUMN=Email."
  ),
  UnreadableBackup: exitWith(exitCode.usage, "Nothing was sent. Use the backup that roster contacts delete wrote."),
  OtherUpload: exitWith(
    exitCode.usage,
    "Nothing was sent. Run the command as before to resume, or start over with --restart: existing contacts are updated."
  ),
  InvalidSettings: exitWith(exitCode.usage, "Correct the flag or the ROSTER_ variable of this setting."),
  Declined: exitWith(
    exitCode.declined,
    "Without a terminal, confirm with --yes; for large deletions, also with --confirm COUNT."
  ),
  MissingKey: exitWith(exitCode.key, "Save a key with roster auth login, set ROSTER_API_KEY, or use --api-key-file."),
  ContactNotFound: exitWith(exitCode.notFound, "List the contacts with: roster contacts list"),
  CredentialNotFound: exitWith(
    exitCode.notFound,
    "List the names with: roster apikeys list, or roster smtp list; for a subaccount, add --subaccount."
  ),
  ExportNotFound: exitWith(
    exitCode.notFound,
    "Check the id or link, or wait until the export is ready: roster exports status ID"
  ),
  JobNotFound: exitWith(exitCode.notFound, "List the jobs with: roster jobs list; set their store with --db."),
  ListNotFound: exitWith(exitCode.notFound, "Create a list with: roster contacts add EMAIL --list NAME"),
  JobEnded: exitWith(exitCode.conflict, "See its result with: roster jobs get ID"),
  NameTaken: exitWith(exitCode.conflict, "Choose another name, or change the existing one with update."),
  LastManagingKey: exitWith(
    exitCode.conflict,
    "Create another one first with: roster apikeys create NAME --access ModifyAccessTokens; or use --db on the machine of the store."
  ),
  TooManyCredentials: exitWith(exitCode.conflict, "Delete one that is no longer used."),
  RotationRefused: exitWith(
    exitCode.conflict,
    "Nothing was changed. Show the credential with: roster apikeys get, or roster smtp get"
  ),
  StillInUse: exitWith(
    exitCode.partlyDone,
    "Run the same command again to resume. If this command itself uses the old key, switch it to the new one first."
  ),
  InvalidInput: exitWith(exitCode.refused, "The service refused it. Change the input as described."),
  InvalidRule: exitWith(exitCode.refused, "The service refused the rule. Change it as described."),
  ImportRefused: exitWith(exitCode.refused, "Change the file as described by the service."),
  NotAllowedSender: exitWith(
    exitCode.refused,
    "Use another sender. An embedded service allows senders with: roster serve --allow-sender"
  ),
  ExportInterrupted: exitWith(
    exitCode.unavailable,
    "The export is still running. Check it with: roster exports status ID"
  ),
  ExportTimedOut: exitWith(
    exitCode.unavailable,
    "The export is still running. Check it with: roster exports status ID"
  ),
  BackupRefused: exitWith(exitCode.usage, "Nothing was changed. Use another backup."),
  StoreDamaged: exitWith(
    exitCode.unavailable,
    "Restore a backup with: roster restore FILE, or use another store with --db."
  ),
  StoreUnavailable: exitWith(exitCode.unavailable, "Check the path, or use another file with --db."),
  ServeError: exitWith(exitCode.unavailable, "Use another --port or --host, or stop the program that uses it."),
  TimeLimitReached: exitWith(
    exitCode.unavailable,
    "First check whether anything was done, then allow more time with --timeout."
  ),
  PartlyDone: exitWith(
    exitCode.partlyDone,
    "Correct what was rejected and run the command again: existing contacts are updated."
  ),
  Unhealthy: exitWith(exitCode.unavailable, "See the checks that failed, and what to do about each."),
  ExportFailed: exitWith(exitCode.jobFailed, "Start a new one with: roster contacts export"),
  ExportExpired: exitWith(exitCode.jobFailed, "Start a new one with: roster contacts export"),
  PlatformError: exitWith(exitCode.bug, "Check the disk and where the output goes.")
}

/** The hint for a missing access level. */
const missingLevel = (operation: string, required: Domain.AccessLevel): string => {
  const purpose = purposeOf(operation)
  const made = purpose === undefined ? `--access ${required}` : `--for ${purpose}`
  return `Use a key that has the level ${required}. To create one with only this level: roster apikeys create NAME ${made}`
}

/** The exit code and the hint of a failure. */
export const exitInfo = (failure: Failure): ExitInfo => {
  switch (failure._tag) {
    case "ServiceError":
      return failure.reason._tag === "AccessDenied"
        ? exitWith(exitCode.key, missingLevel(failure.operation, failure.reason.required))
        : reasonExits[failure.reason._tag]
    case "OtherUpload":
      return failure.differences.some((difference) => difference.startsWith("the file "))
        ? exitWith(
            exitCode.usage,
            "The file has changed since. To resume, put the old file back; or start over with --restart: existing contacts are updated."
          )
        : exits.OtherUpload
    case "StoreUnavailable":
      return failure.isLocked === true
        ? exitWith(exitCode.unavailable, "The other process may only be busy. To use another store, set --db.")
        : exits.StoreUnavailable
    case "UsageError":
      return exitWith(exitCode.usage, failure.hint)
    case "PartlyDone":
      return failure.hint === undefined ? exits.PartlyDone : exitWith(exitCode.partlyDone, failure.hint)
    case "InvalidSettings":
      return failure.setting === "apiKey" ? exits.MissingKey : exits.InvalidSettings
    default:
      return exits[failure._tag]
  }
}

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
