/**
 * Deleting what a rule selects, by way of a file: what is deleted was seen, counted and kept before, and whoever comes to
 * match the rule afterwards survives.
 */
import {
  ContactFilter,
  ContactsService,
  type ContactRule,
  parseRule,
  ruleSource,
  selectsEveryContact
} from "@roster/domain"
import { awaitExport, type BackupSurvey, deleteContacts, isMoreThanHalf, surveyBackup } from "@roster/workflows"
import { Effect, FileSystem, Result } from "effect"
import { contactsIn, defaultBackup } from "./BackupFile.ts"
import { canAgree, confirm, confirmNumber } from "../../shared/Confirm.ts"
import { Output } from "../../../terminal/Output.ts"
import { prepare } from "../../../files/AtomicFile.ts"
import { PartlyDone } from "../../../errors/PartlyDone.ts"
import { counted, printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import * as Results from "../../../terminal/Results.ts"
import { invalid, refusedHere } from "../../../errors/UsageError.ts"
import { quoted, ResumeHint } from "../../../terminal/ResumeHint.ts"

/** More is never deleted by a simple yes. */
export const mostByYes = 1000

interface Given {
  readonly yes: boolean
  readonly confirm: number | undefined
  readonly dryRun: boolean
}

const describe = ({ count, sample, statuses }: BackupSurvey): string =>
  [
    `${counted(count)}: ${[...statuses].map(([status, number]) => `${number} ${status || "without a status"}`).join(", ")}`,
    ...sample.map(({ email, firstName = "", lastName = "" }) => `  ${email}  ${firstName} ${lastName}`.trimEnd()),
    ...(count > sample.length ? ["  …"] : [])
  ]
    .map(printable)
    .join("\n")

const switchToNewKey = (file: string, { count }: BackupSurvey): string =>
  `roster contacts delete --snapshot ${quoted(file)} --yes --confirm ${count}`

/** Deletes the contacts of a backup, once somebody has agreed to their number. */
export const deleteSnapshot = Effect.fnUntraced(function* (
  file: string,
  options: Given & { readonly what: string; readonly isSevere: boolean }
) {
  const { dryRun, isSevere, what } = options
  const output = yield* Output
  const survey = yield* surveyBackup(yield* contactsIn(file))
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
  const wayOn = yield* ResumeHint
  wayOn.command = switchToNewKey(file, survey)
  let deleted = 0
  const contacts = yield* contactsIn(file)
  const report = yield* withProgress({ doing: "Deleting", unit: "contacts", total: count }, (update) =>
    deleteContacts(contacts, {
      onProgress: (done) => {
        deleted = done
        return update(done)
      }
    })
  ).pipe(
    Effect.onInterrupt(() =>
      output.note(
        `${deleted} of ${count} contacts are deleted; the backup is ${file}. Resume with: ${switchToNewKey(file, survey)}`
      )
    )
  )
  yield* Results.summary(
    { deleted: report.deleted, left: report.left, backup: file },
    `Deleted ${counted(report.deleted)}. To restore them: roster contacts restore ${printable(quoted(file))}`
  )
  if (report.left > 0) {
    return yield* new PartlyDone({
      message: `${report.deleted} of ${count} contacts are deleted. ${report.stoppedBy?.message ?? ""} Resume with: ${switchToNewKey(file, survey)}`,
      hint: "When it resumes, contacts that are already gone count as deleted."
    })
  }
  return "deleted" as const
})

/** Takes the snapshot of what a rule selects, and deletes that. The file stays where something was deleted. */
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
  const contacts = yield* ContactsService
  const file = options.backup ?? (yield* defaultBackup)
  const write = yield* prepare(file, { force: false })
  const filter = ContactFilter.ByRule({ rule })
  const { id, link } = yield* contacts.export({ filter, fileFormat: "Json" })
  yield* awaitExport(id)
  yield* write(contacts.download(link))
  const remove = Effect.ignore(fs.remove(file))
  // What a rule of another dialect selects cannot be known.
  const isSevere = Result.isFailure(parsed) || parsed.success._tag === "All"
  const outcome = yield* deleteSnapshot(file, { ...options, what, isSevere }).pipe(
    Effect.tapError((error) => (error._tag === "Declined" ? remove : Effect.void))
  )
  if (outcome === "kept") yield* remove
}, Effect.scoped)
