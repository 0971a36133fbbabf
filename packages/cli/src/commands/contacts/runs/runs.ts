/** `roster contacts runs` */
import { Effect, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import * as Results from "../../../terminal/Results.ts"
import { withExamples } from "../../shared/CommonFlags.ts"
import { contactRuns } from "./RecordedRun.ts"

const Run = Schema.Struct({
  id: Schema.String,
  command: Schema.String,
  began: Schema.String,
  /** Whether it came to its end; one that was stopped, or is still at work, did not. */
  ended: Schema.Boolean,
  created: Schema.Int,
  changed: Schema.Int,
  deleted: Schema.Int,
  undoes: Schema.optionalKey(Schema.String),
  target: Schema.String
})

export const command = Command.make(
  "runs",
  {},
  Effect.fnUntraced(function* () {
    const shown = (yield* contactRuns).map(({ counts, header, isEnded: ended }) => ({ ...header, ...counts, ended }))
    const columns = ["id", "command", "created", "changed", "deleted", "target"]
    yield* Results.records(Run, columns, Stream.fromIterable(shown))
  })
).pipe(
  withExamples({
    "roster contacts runs": "",
    "roster contacts runs -o json | jq -r '.[0].id'": "Print the id of the last run"
  }),
  Command.provide(RunLogLayer.layerOfAll)
)
