/** Deletes contacts through a backup: only those that were shown, counted and saved are deleted. */
import {
  beforeWriting,
  canonicalEmail,
  ContactFilter,
  ContactNotFound,
  type ContactRule,
  ContactsService,
  maximumLookup,
  parseRule,
  ruleSource,
  selectsEveryContact
} from "@roster/domain"
import { writeContact } from "@roster/domain/ContactJson"
import {
  type BackupSurvey,
  deleteContacts,
  exportTo,
  isMoreThanHalf,
  readBackup,
  surveyBackup
} from "@roster/workflows"
import { DateTime, Effect, FileSystem, Path, Result, Stream } from "effect"
import { readBytes, refuseStream } from "../../../settings/InputFile.ts"
import { stateFolder } from "../../../files/UserFolder.ts"
import { checkFields } from "../../shared/RuleFlags.ts"
import { canAgree, confirmContacts, mostByYes } from "../../shared/Confirm.ts"
import { Output } from "../../../terminal/Output.ts"
import { prepare, refuseTaken } from "../../../files/AtomicFile.ts"
import { temporaryPath, temporaryProblem } from "../../../files/TemporaryFile.ts"
import { counted, printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import * as Results from "../../../terminal/Results.ts"
import { invalid, PartlyDone, refusedHere } from "../../../errors/UsageError.ts"
import { recorded } from "../runs/RecordedRun.ts"
import { commandHere, resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"

interface Given {
  readonly yes: boolean
  readonly confirm: number | undefined
  readonly dryRun: boolean
}

/** A name for a new backup in the user's state folder. */
const defaultBackup = Effect.gen(function* () {
  const path = yield* Path.Path
  const time = DateTime.formatIso(yield* DateTime.now).replaceAll(/[-:]|\.\d+/g, "")
  return path.join(yield* stateFolder("backups"), `contacts-${time}-${crypto.randomUUID().slice(0, 8)}.json`)
})

/** A name for the backup of a dry run, which goes with the scope. */
const temporaryBackup = temporaryPath("contacts.json").pipe(temporaryProblem("the contacts"))

const describe = ({ count, sample, statuses }: BackupSurvey): string =>
  [
    `${counted(count)}: ${[...statuses].map(([status, number]) => `${number} ${status || "without a status"}`).join(", ")}`,
    ...sample.map(({ email, firstName = "", lastName = "" }) => `  ${email}  ${firstName} ${lastName}`.trimEnd()),
    ...(count > sample.length ? ["  …"] : [])
  ]
    .map(printable)
    .join("\n")

interface Deletion {
  readonly what: string
  /** Whether the number has to be confirmed, however small it is. */
  readonly isSevere: boolean
  /** Addresses that were named and have no contact. Whoever names addresses does not delete more than they mean. */
  readonly missing?: ReadonlyArray<string> | undefined
}

const notThereWords = (missing: ReadonlyArray<string> = []): string =>
  missing.length === 0 ? "" : missing.length === 1 ? "; 1 was not there" : `; ${missing.length} were not there`

/** Some addresses in a message. */
const someOf = (emails: ReadonlyArray<string>): string =>
  `${emails.slice(0, 3).join(", ")}${emails.length > 3 ? ` and ${emails.length - 3} more` : ""}`

/** Deletes the contacts of a backup after the user has confirmed their number. */
export const deleteSnapshot = Effect.fnUntraced(function* (file: string, options: Given & Deletion) {
  const { dryRun, isSevere, missing, what } = options
  const output = yield* Output
  yield* refuseStream(file, "A backup")
  const survey = yield* surveyBackup(readBackup(yield* readBytes(file)))
  const { count, statuses } = survey
  const notThere = missing === undefined ? {} : { notThere: missing.length }
  const facts = { count, ...notThere, statuses: Object.fromEntries(statuses) }
  if (count === 0 && missing !== undefined) return yield* new ContactNotFound({ email: someOf(missing) })
  if (missing !== undefined && missing.length > 0) yield* output.note(`There is no contact ${someOf(missing)}.`)
  const severe = isSevere || count > mostByYes || (missing === undefined && (yield* isMoreThanHalf(count)))
  if (dryRun) {
    const emails = survey.sample.map(({ email }) => email)
    const words = `Would delete ${describe(survey)}`
    yield* Results.summary({ dryRun: true, ...facts, sample: emails, needsConfirm: severe }, words)
    return "kept" as const
  }
  if (count === 0) {
    yield* Results.summary({ deleted: 0, left: 0, backup: null }, "No contact matches, so nothing was deleted.")
    return "kept" as const
  }
  yield* output.note(describe(survey))
  yield* confirmContacts(what, count, options, severe)
  const hint = yield* ResumeHint
  const restore = yield* commandHere(["contacts", "restore", file])
  hint.command = yield* commandHere(["contacts", "delete", "--snapshot", file, "--yes", "--confirm", String(count)])
  const contacts = readBackup(yield* readBytes(file))
  const report = yield* recorded(
    { command: "delete", expected: count },
    withProgress(
      {
        doing: "Deleting",
        unit: "contacts",
        total: count,
        interrupted: (done) => `${done} of ${count} contacts are deleted; the backup is ${file}.`
      },
      (onProgress) => deleteContacts(contacts, { onProgress })
    )
  )
  if (report.deleted === 0 && report.stoppedBy !== undefined) return yield* report.stoppedBy
  yield* Results.summary(
    { deleted: report.deleted, ...notThere, left: report.left, backup: file },
    `Deleted ${counted(report.deleted)}${notThereWords(missing)}. To restore, without lists: ${printable(restore)}`
  )
  if (report.left > 0) {
    return yield* new PartlyDone({
      message: `${report.deleted} of ${count} contacts are deleted. ${report.stoppedBy?.message ?? ""}`.trimEnd(),
      hint: "When it resumes, contacts that are already gone count as deleted."
    })
  }
  return "deleted" as const
})

type Backup = Given & { readonly backup: string | undefined }

type Write = Effect.Success<ReturnType<typeof prepare>>

/** Deletes the contacts that `fill` writes to a new backup, which is kept if anything was deleted. */
const deleteBackedUp = Effect.fnUntraced(function* <E, R>(
  options: Backup & Omit<Deletion, "missing">,
  fill: (write: Write) => Effect.Effect<Deletion["missing"], E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const { backup, dryRun } = options
  if (dryRun && backup !== undefined) yield* refuseTaken(backup, { force: false })
  const file = dryRun ? yield* temporaryBackup : (backup ?? (yield* defaultBackup))
  const missing = yield* fill(yield* prepare(file, { force: false }))
  const remove = Effect.ignore(fs.remove(file))
  const outcome = yield* deleteSnapshot(file, { ...options, missing }).pipe(
    Effect.tapError(({ _tag }) => (_tag === "Declined" || _tag === "ContactNotFound" ? remove : Effect.void))
  )
  if (outcome === "kept") yield* remove
}, Effect.scoped)

/** Backs up what a rule selects and deletes it. */
export const deleteByRule = Effect.fnUntraced(function* (
  rule: ContactRule,
  options: Backup & { readonly allowUnknownField: boolean }
) {
  const what = `delete every contact that the rule ${ruleSource(rule)} selects`
  const parsed = parseRule(ruleSource(rule))
  if (Result.isSuccess(parsed) && parsed.success._tag !== "All" && selectsEveryContact(parsed.success)) {
    return yield* refusedHere(Effect.fail(invalid("Rule", "it selects every contact; to do that, use the rule All")))
  }
  yield* canAgree(what, { agreed: options.yes, dryRun: options.dryRun })
  yield* checkFields(rule, options)
  // It is unknown what a rule of another dialect selects.
  const isSevere = Result.isFailure(parsed) || parsed.success._tag === "All"
  const { stream } = yield* ContactsService
  const fill = Effect.fnUntraced(function* (write: Write) {
    // A dry run makes no export, which would leave a file with people in it.
    if (options.dryRun) yield* write(Results.jsonLines(stream({ rule }), "json", writeContact))
    else yield* exportTo({ filter: ContactFilter.ByRule({ rule }), fileFormat: "Json" }, (content) => write(content))
    return undefined
  })
  yield* deleteBackedUp({ ...options, what, isSevere }, fill)
})

/** Maximum number of concurrent requests for named contacts. */
const requestsAtOnce = 8

const namedWords = ([first = "", ...rest]: ReadonlyArray<string>): string =>
  rest.length === 0 ? `delete the contact ${first} everywhere` : `delete ${rest.length + 1} contacts everywhere`

/** Backs up the contacts with these addresses and deletes them. */
export const deleteByEmails = Effect.fnUntraced(function* (emails: ReadonlyArray<string>, options: Backup) {
  const contacts = yield* ContactsService
  const output = yield* Output
  const what = namedWords(emails)
  yield* canAgree(what, { agreed: options.yes, dryRun: options.dryRun })
  const sayUnread = output.note(
    "A delete reads the contacts first, to back them up. To delete them without reading them, add --no-backup."
  )
  const missing: Array<string> = []
  const found = Stream.fromIterable(emails).pipe(
    Stream.grouped(maximumLookup),
    Stream.mapEffect(
      Effect.fnUntraced(function* (some) {
        const { contacts: found } = yield* beforeWriting(contacts.getMany(some)).pipe(
          Effect.tapError((error) =>
            error._tag === "ServiceError" && error.reason._tag === "AccessDenied" ? sayUnread : Effect.void
          )
        )
        const there = new Set(found.map(({ email }) => canonicalEmail(email)))
        missing.push(...some.filter((email) => !there.has(canonicalEmail(email))))
        return found
      })
    ),
    Stream.flattenIterable
  )
  yield* deleteBackedUp({ ...options, what, isSevere: false }, (write) =>
    Effect.as(write(Results.jsonLines(found, "json", writeContact)), missing)
  )
})

/** Deletes the contacts with these addresses unread, with a key that may not read them. */
export const deleteUnread = Effect.fnUntraced(function* (emails: ReadonlyArray<string>, options: Given) {
  const contacts = yield* ContactsService
  const { length: count } = emails
  const hint = yield* ResumeHint
  if (!options.dryRun) {
    yield* confirmContacts(`${namedWords(emails)}, without a backup`, count, options)
    hint.command = yield* resumeCommand()
  }
  const missing: Array<string> = []
  let deleted = 0
  const remove = (email: string) =>
    contacts.delete(email).pipe(
      Effect.map(() => void deleted++),
      Effect.catchTag("ContactNotFound", () => Effect.sync(() => void missing.push(email)))
    )
  let stoppedBy: Effect.Error<ReturnType<typeof remove>> | undefined
  // A failure ends the deletion, but not requests that may already have been carried out.
  yield* Effect.forEach(
    emails,
    (email) =>
      Effect.suspend(() => (stoppedBy === undefined ? remove(email) : Effect.void)).pipe(
        Effect.catch((error) => Effect.sync(() => void (stoppedBy ??= error)))
      ),
    { concurrency: requestsAtOnce, discard: true }
  )
  const left = count - deleted - missing.length
  if (left === 0) hint.command = undefined
  if (deleted === 0 && stoppedBy !== undefined) return yield* stoppedBy
  if (missing.length === count) return yield* new ContactNotFound({ email: someOf(missing) })
  const facts = { deleted, notThere: missing.length, ...(left === 0 ? {} : { left }) }
  yield* Results.summary(facts, `Deleted ${counted(deleted)}${notThereWords(missing)}`)
  if (left > 0) {
    return yield* new PartlyDone({
      message: `${deleted} of ${count} contacts are deleted. ${stoppedBy?.message ?? ""}`.trimEnd(),
      hint: "When it resumes, contacts that are already deleted are not an error."
    })
  }
})
