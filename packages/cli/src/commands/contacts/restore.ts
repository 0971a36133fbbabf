/** `roster contacts restore` */
import { readBackup, restoreContacts, surveyBackup } from "@roster/workflows"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { resubscribe } from "../shared/CommonFlags.ts"
import { readBytes, refuseStream } from "../../settings/InputFile.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { Output } from "../../terminal/Output.ts"
import { PartlyDone } from "../../errors/UsageError.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import { withProgress } from "../../terminal/Progress.ts"
import * as Results from "../../terminal/Results.ts"
import { recorded } from "./runs/RecordedRun.ts"
import * as RunLogLayer from "../../target/RunLogLayer.ts"

const shownContacts = 20

export const command = Command.make(
  "restore",
  {
    file: Argument.String("backup").pipe(
      Argument.withDescription("The backup that roster contacts delete wrote, or a JSON export")
    ),
    resubscribe,
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun, file, resubscribe }) {
    const output = yield* Output
    yield* refuseStream(file, "A backup")
    // Reads the whole file before anything is sent.
    const { count } = yield* surveyBackup(readBackup(yield* readBytes(file)))
    if (dryRun) {
      return yield* Results.summary({ dryRun: true, count }, `Would restore ${counted(count)}`)
    }
    const contacts = readBackup(yield* readBytes(file))
    const report = yield* recorded(
      { command: "restore", expected: count },
      withProgress(
        {
          doing: "Restoring",
          unit: "contacts",
          total: count,
          interrupted: (done) => `${done} of ${count} contacts are restored.`
        },
        (onProgress) => restoreContacts(contacts, { onProgress, resubscribe })
      )
    ).pipe(RunLogLayer.about(file))
    const { keptStatuses, notSent, read, refused, restored, statusesKept, stoppedBy, unknown } = report
    yield* Results.summary(
      {
        read,
        restored,
        refused: refused.length,
        notSent,
        unknown,
        ...(statusesKept === 0 ? {} : { statusesKept, keptStatuses }),
        refusedContacts: refused
      },
      [
        `Restored ${restored} of ${counted(read)}`,
        ...refused.slice(0, shownContacts).map(({ email, reason }) => printable(`${email}: ${reason}`)),
        ...(statusesKept === 0
          ? []
          : [`${counted(statusesKept)} kept the status that they have now; --resubscribe restores it:`]),
        ...keptStatuses.slice(0, shownContacts).map(({ email, status }) => printable(`${email}: stays ${status}`))
      ].join("\n")
    )
    if (stoppedBy !== undefined && restored === 0 && unknown === 0) return yield* stoppedBy
    yield* output.note(
      "Restored: address, status, names, custom fields and consent. Not restored: source, dates, activity " +
        "and lists, which the interface does not accept."
    )
    if (refused.length + notSent + unknown > 0) {
      return yield* new PartlyDone({
        message:
          `${restored} of ${read} contacts were restored, ${refused.length} refused, ${notSent} not sent, ` +
          `${unknown} have no answer. ${stoppedBy?.message ?? ""}`
      })
    }
  })
).pipe(
  Command.withExamples([
    { command: "roster contacts restore ~/.local/state/roster/backups/contacts-20261121T140000Z-1a2b3c4d.json" }
  ]),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun, makesStore: true }))
)
