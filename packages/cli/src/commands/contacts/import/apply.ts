/** `roster contacts apply` */
import { loadPlan, recipientWords } from "@roster/workflows"
import { Effect, Stream, Struct } from "effect"
import { Argument, Command } from "effect/cli"
import { PartlyDone } from "../../../errors/UsageError.ts"
import { readObeyed, refuseStream } from "../../../settings/InputFile.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import * as Results from "../../../terminal/Results.ts"
import { toggle } from "../../../settings/FlagForms.ts"
import { withExamples } from "../../shared/CommonFlags.ts"
import { contactsFile } from "../runs/ContactsFile.ts"
import { carryOut } from "./CarryOut.ts"

export const command = Command.make(
  "apply",
  {
    plan: Argument.String("plan").pipe(
      Argument.withDescription("The plan that roster contacts import FILE --plan wrote")
    ),
    skipChanged: toggle(
      "skip-changed",
      "Apply the rows whose contacts are as the plan saw them, and report the others (default: refuse all)"
    ),
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun, plan: file, skipChanged }) {
    yield* refuseStream(file, "A plan")
    const plan = yield* loadPlan(readObeyed(file))
    const { header, summary } = plan
    const verify = plan.verifyWith({ snapshot: yield* contactsFile })
    if (dryRun) {
      const left = skipChanged ? Effect.catchTag(verify, "PlanOutdated", Effect.succeed) : verify
      const { count, message, sample } = (yield* left) ?? { count: 0, message: "", sample: [] }
      const { changed, deleted = 0, new: added } = summary
      const deletes = deleted === 0 ? {} : { deleted }
      // Of contacts that are outdated nobody knows what the plan would do.
      const recipients = count === 0 ? Struct.pick(summary, ["newRecipients"]) : {}
      const facts = { new: added, changed, ...deletes, outdated: count, outdatedContacts: sample }
      yield* Results.summary(
        {
          dryRun: true,
          ...facts,
          ...Struct.pick(summary, ["statusesKept", "keptStatuses"]),
          ...recipients,
          lists: header.listNames
        },
        [
          `Would add ${added} contacts, change ${changed} and delete ${deleted}${count === 0 ? "" : `, but for ${count}`}.`,
          "Nothing was sent.",
          ...(count === 0 ? recipientWords(summary) : [])
        ].join("\n")
      )
      if (count === 0) return
      return yield* new PartlyDone({ message, hint: "They would be left as they are: plan the import again for them." })
    }
    // Either way every row is read before anything is sent.
    yield* skipChanged ? Stream.runDrain(plan.rows) : verify
    yield* carryOut(plan, {
      command: "apply",
      file,
      doing: "Applying",
      again: "Plan the import again for the contacts that others changed."
    }).pipe(RunLogLayer.about(file))
  }, Effect.scoped)
).pipe(
  withExamples({
    "roster contacts apply plan.json": "",
    "roster contacts apply plan.json --skip-changed": "Leave out contacts that changed since the plan was made"
  }),
  // A plan names its store, which is there.
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
