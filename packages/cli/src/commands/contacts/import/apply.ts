/** `roster contacts apply` */
import { loadPlan } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { PartlyDone } from "../../../errors/UsageError.ts"
import { readObeyed, refuseStream } from "../../../settings/InputFile.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import * as Results from "../../../terminal/Results.ts"
import { toggle } from "../../../settings/FlagForms.ts"
import { withExamples } from "../../shared/CommonFlags.ts"
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
    if (dryRun) {
      const left = skipChanged ? Effect.catchTag(plan.verify, "PlanOutdated", Effect.succeed) : plan.verify
      const { count, message, sample } = (yield* left) ?? { count: 0, message: "", sample: [] }
      const facts = { new: summary.new, changed: summary.changed, outdated: count, outdatedContacts: sample }
      yield* Results.summary(
        { dryRun: true, ...facts, lists: header.listNames },
        `Would add ${summary.new} contacts and change ${summary.changed}${count === 0 ? "" : `, but for ${count}`}.\nNothing was sent.`
      )
      if (count === 0) return
      return yield* new PartlyDone({ message, hint: "They would be left as they are: plan the import again for them." })
    }
    // Either way every row is read before anything is sent.
    yield* skipChanged ? Stream.runDrain(plan.rows) : plan.verify
    yield* carryOut(plan, {
      command: "apply",
      doing: "Applying",
      again: "plan the import again for those that are outdated"
    }).pipe(RunLogLayer.about(file))
  })
).pipe(
  withExamples({
    "roster contacts apply plan.json": "",
    "roster contacts apply plan.json --skip-changed": "Leave out contacts that changed since the plan was made"
  }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun, makesStore: true }))
)
