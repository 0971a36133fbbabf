/**
 * `roster contacts restore`
 */
import { restoreContacts, surveyBackup } from "@roster/workflows"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { contactsIn } from "./delete/BackupFile.ts"
import { dryRun } from "../../terminal/DryRun.ts"
import { Output } from "../../terminal/Output.ts"
import { PartlyDone } from "../../errors/UsageError.ts"
import { counted, printable } from "../../terminal/Printable.ts"
import { withProgress } from "../../terminal/Progress.ts"
import * as Results from "../../terminal/Results.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"

const shownRefusals = 20

export const command = Command.make(
  "restore",
  {
    file: Argument.String("backup").pipe(
      Argument.withDescription("The file that roster contacts delete kept, or an export as JSON")
    ),
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun, file }) {
    const output = yield* Output
    // To its end, before anything is sent.
    const { count } = yield* surveyBackup(yield* contactsIn(file))
    if (dryRun) {
      return yield* Results.summary({ dryRun: true, count }, `Would bring back ${counted(count)}`)
    }
    let done = 0
    const contacts = yield* contactsIn(file)
    const report = yield* withProgress({ doing: "Restoring", unit: "contacts", total: count }, (update) =>
      restoreContacts(contacts, {
        onProgress: (restored) => {
          done = restored
          return update(restored)
        }
      })
    ).pipe(
      Effect.onInterrupt(() =>
        output.note(`${done} of ${count} are back. Do it again with the same command: it does no harm.`)
      )
    )
    const { notSent, read, refused, restored, stoppedBy, unknown } = report
    yield* Results.summary(
      { read, restored, refused: refused.length, notSent, unknown, refusedContacts: refused },
      [
        `Brought back ${restored} of ${counted(read)}`,
        ...refused.slice(0, shownRefusals).map(({ email, reason }) => printable(`${email}: ${reason}`))
      ].join("\n")
    )
    if (stoppedBy !== undefined && restored === 0 && unknown === 0) return yield* stoppedBy
    yield* output.note(
      "Back are address, status, names, custom fields and consent. The interface takes no source, dates, activity or lists: those are new."
    )
    if (refused.length + notSent + unknown > 0) {
      return yield* new PartlyDone({
        message: `${restored} of ${read} contacts are back, ${refused.length} refused, ${notSent} not sent, ${unknown} have no answer. ${stoppedBy?.message ?? ""}`
      })
    }
  })
).pipe(
  Command.withExamples([
    { command: "roster contacts restore ~/.local/state/roster/backups/contacts-20261121T140000Z-1a2b3c4d.json" }
  ]),
  Command.provide(TargetLayer.layer)
)
