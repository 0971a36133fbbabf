/**
 * What a command's exit code says, in one table: from the tag of an error, or the reason of a `ServiceError`, to the code
 * and a hint of what to do. The codes are a stable interface.
 */
import { purposeOf } from "@roster/api/Purpose"
import type {
  AccessLevel,
  ConflictingFilter,
  ContactNotFound,
  CredentialNotFound,
  ExportExpired,
  ExportFailed,
  ExportInterrupted,
  ExportNotFound,
  ExportTimedOut,
  ImportRefused,
  InvalidInput,
  InvalidRule,
  LastManagingKey,
  ListNotFound,
  NameTaken,
  NotAllowedSender,
  ServiceError,
  ServiceErrorReason,
  TooManyContacts,
  TooManyCredentials,
  UnreadableFile
} from "@roster/domain"
import type { OtherUpload, RotationRefused, StillInUse, UnreadableBackup } from "@roster/workflows"
import type { InvalidSettings } from "@roster/http-client"
import type { JobEnded, JobNotFound, RosterServer, SqlServices, StoreBackup } from "@roster/server"
import type { PlatformError } from "effect"
import type { Declined } from "../commands/shared/Confirm.ts"
import type { Unhealthy } from "../commands/setup/doctor.ts"
import type { PartlyDone } from "../errors/PartlyDone.ts"
import type { MissingKey } from "../settings/Settings.ts"
import type { TimeLimitReached } from "../target/TimeLimit.ts"
import type { UsageError } from "../errors/UsageError.ts"

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

/** Every failure that a command may end with and that is no bug. */
export type Failure =
  | ConflictingFilter
  | ContactNotFound
  | CredentialNotFound
  | ExportExpired
  | ExportFailed
  | ExportInterrupted
  | ExportNotFound
  | ExportTimedOut
  | ImportRefused
  | InvalidInput
  | InvalidRule
  | LastManagingKey
  | ListNotFound
  | NameTaken
  | NotAllowedSender
  | OtherUpload
  | RotationRefused
  | ServiceError
  | StillInUse
  | TooManyContacts
  | TooManyCredentials
  | UnreadableBackup
  | UnreadableFile
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

const verdict = (exit: number, hint: string): ExitInfo => ({ exit, hint })

const again = "Try the same command again later."

export const reasonVerdicts: { readonly [Reason in ServiceErrorReason["_tag"]]: ExitInfo } = {
  Unauthorized: verdict(exitCode.key, "Check the file or variable that contains the key."),
  AccessDenied: verdict(
    exitCode.key,
    "Use a key that has the level; roster apikeys update NAME --access sets all levels of a key."
  ),
  ExceedsGrantor: verdict(
    exitCode.key,
    "Limit it with --expires or --ip-range, or use a key that expires later and has wider ranges."
  ),
  RateLimited: verdict(exitCode.unavailable, again),
  Unavailable: verdict(exitCode.unavailable, "Check the address and the network, and try again."),
  TimedOut: verdict(exitCode.unavailable, again),
  OutcomeUnknown: verdict(exitCode.unavailable, "Check whether it was done before you repeat it."),
  UnexpectedContentType: verdict(
    exitCode.unavailable,
    "Check that --base-url or ROSTER_BASE_URL is the address of the service."
  ),
  UnexpectedRedirect: verdict(
    exitCode.unavailable,
    "Check that --base-url or ROSTER_BASE_URL is the address of the service."
  ),
  ResponseTooLarge: verdict(exitCode.unavailable, "Request less at once, with --limit or --rule."),
  InvalidResponse: verdict(
    exitCode.unavailable,
    "Check that --base-url or ROSTER_BASE_URL is the address of the service."
  ),
  Rejected: verdict(exitCode.refused, "Change the request as described by the service."),
  StoreFailure: verdict(exitCode.unavailable, "Check the disk, the permissions and other programs that use the store.")
}

export const verdicts: { readonly [Tag in Exclude<Failure["_tag"], "ServiceError" | "UsageError">]: ExitInfo } = {
  ConflictingFilter: verdict(exitCode.usage, "Omit --rule or the addresses."),
  TooManyContacts: verdict(exitCode.usage, "Put them in a file and use: roster contacts import FILE"),
  UnreadableFile: verdict(
    exitCode.usage,
    "Nothing was sent. Correct the file, or set how to read it: --encoding, --delimiter, --map COLUMN=Email."
  ),
  UnreadableBackup: verdict(exitCode.usage, "Nothing was sent. Use the backup that roster contacts delete wrote."),
  OtherUpload: verdict(
    exitCode.usage,
    "Nothing was sent. Run the command as before to resume, or start over with --restart: existing contacts are updated."
  ),
  InvalidSettings: verdict(exitCode.usage, "Correct the flag or the ROSTER_ variable of this setting."),
  Declined: verdict(
    exitCode.declined,
    "Without a terminal, confirm with --yes; for large deletions, also with --confirm COUNT."
  ),
  MissingKey: verdict(exitCode.key, "Save a key with roster auth login, set ROSTER_API_KEY, or use --api-key-file."),
  ContactNotFound: verdict(exitCode.notFound, "List the contacts with: roster contacts list"),
  CredentialNotFound: verdict(
    exitCode.notFound,
    "List the names with: roster apikeys list, or roster smtp list; for a subaccount, add --subaccount."
  ),
  ExportNotFound: verdict(
    exitCode.notFound,
    "Check the id or link, or wait until the export is ready: roster exports status ID"
  ),
  JobNotFound: verdict(exitCode.notFound, "List the jobs with: roster jobs list; set their store with --db."),
  ListNotFound: verdict(exitCode.notFound, "Create a list with: roster contacts add EMAIL --list NAME"),
  JobEnded: verdict(exitCode.conflict, "See its result with: roster jobs get ID"),
  NameTaken: verdict(exitCode.conflict, "Choose another name, or change the existing one with update."),
  LastManagingKey: verdict(
    exitCode.conflict,
    "Create another one first with: roster apikeys create NAME --access ModifyAccessTokens; or use --db on the machine of the store."
  ),
  TooManyCredentials: verdict(exitCode.conflict, "Delete one that is no longer used."),
  RotationRefused: verdict(
    exitCode.conflict,
    "Nothing was changed. Show the credential with: roster apikeys get, or roster smtp get"
  ),
  StillInUse: verdict(
    exitCode.partlyDone,
    "Run the same command again to resume. If this command itself uses the old key, switch it to the new one first."
  ),
  InvalidInput: verdict(exitCode.refused, "The service refused it. Change the input as described."),
  InvalidRule: verdict(exitCode.refused, "The service refused the rule. Change it as described."),
  ImportRefused: verdict(exitCode.refused, "Change the file as described by the service."),
  NotAllowedSender: verdict(
    exitCode.refused,
    "Use another sender. An embedded service allows senders with: roster serve --allow-sender"
  ),
  ExportInterrupted: verdict(
    exitCode.unavailable,
    "The export is still running. Check it with: roster exports status ID"
  ),
  ExportTimedOut: verdict(exitCode.unavailable, "The export is still running. Check it with: roster exports status ID"),
  BackupRefused: verdict(exitCode.usage, "Nothing was changed. Use another backup."),
  StoreDamaged: verdict(
    exitCode.unavailable,
    "Restore a backup with: roster restore FILE, or use another store with --db."
  ),
  StoreUnavailable: verdict(exitCode.unavailable, "Check the path, or use another file with --db."),
  ServeError: verdict(exitCode.unavailable, "Use another --port or --host, or stop the program that uses it."),
  TimeLimitReached: verdict(
    exitCode.unavailable,
    "First check whether anything was done, then allow more time with --timeout."
  ),
  PartlyDone: verdict(
    exitCode.partlyDone,
    "Correct what was rejected and run the command again: existing contacts are updated."
  ),
  Unhealthy: verdict(exitCode.unavailable, "See the checks that failed, and what to do about each."),
  ExportFailed: verdict(exitCode.jobFailed, "Start a new one with: roster contacts export"),
  ExportExpired: verdict(exitCode.jobFailed, "Start a new one with: roster contacts export"),
  PlatformError: verdict(exitCode.bug, "Check the disk and where the output goes.")
}

/** A level by its own name, and by what it is for. */
const missingLevel = (operation: string, required: AccessLevel): string => {
  const purpose = purposeOf(operation)
  const made = purpose === undefined ? `--access ${required}` : `--for ${purpose}`
  return `Use a key that has the level ${required}. To create one with only this level: roster apikeys create NAME ${made}`
}

export const exitInfo = (failure: Failure): ExitInfo => {
  switch (failure._tag) {
    case "ServiceError":
      return failure.reason._tag === "AccessDenied"
        ? verdict(exitCode.key, missingLevel(failure.operation, failure.reason.required))
        : reasonVerdicts[failure.reason._tag]
    case "OtherUpload":
      return failure.differences.some((difference) => difference.startsWith("the file "))
        ? verdict(
            exitCode.usage,
            "The file has changed since. To resume, put the old file back; or start over with --restart: existing contacts are updated."
          )
        : verdicts.OtherUpload
    case "StoreUnavailable":
      return failure.isLocked === true
        ? verdict(exitCode.unavailable, "The other process may only be busy. To use another store, set --db.")
        : verdicts.StoreUnavailable
    case "UsageError":
      return verdict(exitCode.usage, failure.hint)
    case "PartlyDone":
      return failure.hint === undefined ? verdicts.PartlyDone : verdict(exitCode.partlyDone, failure.hint)
    case "InvalidSettings":
      return failure.setting === "apiKey" ? verdicts.MissingKey : verdicts.InvalidSettings
    default:
      return verdicts[failure._tag]
  }
}

/** What a program knows a failure by. */
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
