/** `roster contacts runs` */
import { Effect, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import * as Results from "../../../terminal/Results.ts"
import { withExamples } from "../../shared/CommonFlags.ts"
import { allRuns } from "./RunFiles.ts"

const Run = Schema.Struct({
  id: Schema.String,
  command: Schema.String,
  began: Schema.String,
  /** Whether it ended by itself; one that was killed, or is still at work, did not. */
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
    const all = yield* allRuns
    const shown = all.map(({ counts, isEnded: ended, header }) => ({ ...header, ...counts, ended }))
    const columns = ["id", "command", "created", "changed", "deleted", "target"]
    yield* Results.records(Run, columns, Stream.fromIterable(shown))
  })
).pipe(
  withExamples({
    "roster contacts runs": "",
    "roster contacts runs -o json | jq -r '.[0].id'": "Print the id of the last run"
  })
)
