/** Deletes what a rule selects through a backup: only contacts that were shown, counted and saved are deleted. */
import { ContactFilter, type ContactRule, parseRule, ruleSource, selectsEveryContact } from "@roster/domain"
import {
  type BackupSurvey,
  deleteContacts,
  exportTo,
  isMoreThanHalf,
  readBackup,
  surveyBackup
} from "@roster/workflows"
import { DateTime, Effect, FileSystem, Path, Result } from "effect"
import { readBytes } from "../../../settings/InputFile.ts"
import { stateFolder } from "../../../files/UserFolder.ts"
import { canAgree, confirm, confirmNumber } from "../../shared/Confirm.ts"
import { Output } from "../../../terminal/Output.ts"
import { prepare } from "../../../files/AtomicFile.ts"
import { counted, printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import * as Results from "../../../terminal/Results.ts"
import { invalid, PartlyDone, refusedHere } from "../../../errors/UsageError.ts"
import { quoted, ResumeHint } from "../../../terminal/ResumeHint.ts"

/** More contacts than this are never deleted by a simple yes. */
export const mostByYes = 1000

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

const describe = ({ count, sample, statuses }: BackupSurvey): string =>
  [
    `${counted(count)}: ${[...statuses].map(([status, number]) => `${number} ${status || "without a status"}`).join(", ")}`,
    ...sample.map(({ email, firstName = "", lastName = "" }) => `  ${email}  ${firstName} ${lastName}`.trimEnd()),
    ...(count > sample.length ? ["  …"] : [])
  ]
    .map(printable)
    .join("\n")

/** Deletes the contacts of a backup after the user has confirmed their number. */
export const deleteSnapshot = Effect.fnUntraced(function* (
  file: string,
  options: Given & { readonly what: string; readonly isSevere: boolean }
) {
  const { dryRun, isSevere, what } = options
  const output = yield* Output
  const survey = yield* surveyBackup(readBackup(yield* readBytes(file)))
  const { count, statuses } = survey
  const facts = { count, statuses: Object.fromEntries(statuses) }
  const severe = isSevere || count > mostByYes || (yield* isMoreThanHalf(count))
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
  yield* severe || options.confirm !== undefined ? confirmNumber(what, count, options) : confirm(what, options)
  const hint = yield* ResumeHint
  const resume = `roster contacts delete --snapshot ${quoted(file)} --yes --confirm ${count}`
  hint.command = resume
  const contacts = readBackup(yield* readBytes(file))
  const report = yield* withProgress(
    {
      doing: "Deleting",
      unit: "contacts",
      total: count,
      interrupted: (done) => `${done} of ${count} contacts are deleted; the backup is ${file}. Resume with: ${resume}`
    },
    (onProgress) => deleteContacts(contacts, { onProgress })
  )
  yield* Results.summary(
    { deleted: report.deleted, left: report.left, backup: file },
    `Deleted ${counted(report.deleted)}. To restore them: roster contacts restore ${printable(quoted(file))}`
  )
  if (report.left > 0) {
    return yield* new PartlyDone({
      message: `${report.deleted} of ${count} contacts are deleted. ${report.stoppedBy?.message ?? ""} Resume with: ${resume}`,
      hint: "When it resumes, contacts that are already gone count as deleted."
    })
  }
  return "deleted" as const
})

/** Backs up what a rule selects and deletes it; the file is kept if anything was deleted. */
export const deleteByRule = Effect.fnUntraced(function* (
  rule: ContactRule,
  options: Given & { readonly backup: string | undefined }
) {
  const what = `delete every contact that the rule ${ruleSource(rule)} selects`
  const parsed = parseRule(ruleSource(rule))
  if (Result.isSuccess(parsed) && parsed.success._tag !== "All" && selectsEveryContact(parsed.success)) {
    return yield* refusedHere(Effect.fail(invalid("Rule", "it selects every contact; to do that, use the rule All")))
  }
  yield* canAgree(what, { agreed: options.yes || options.dryRun })
  const fs = yield* FileSystem.FileSystem
  const file = options.backup ?? (yield* defaultBackup)
  const write = yield* prepare(file, { force: false })
  yield* exportTo({ filter: ContactFilter.ByRule({ rule }), fileFormat: "Json" }, (content) => write(content))
  const remove = Effect.ignore(fs.remove(file))
  // It is unknown what a rule of another dialect selects.
  const isSevere = Result.isFailure(parsed) || parsed.success._tag === "All"
  const outcome = yield* deleteSnapshot(file, { ...options, what, isSevere }).pipe(
    Effect.tapError((error) => (error._tag === "Declined" ? remove : Effect.void))
  )
  if (outcome === "kept") yield* remove
}, Effect.scoped)
