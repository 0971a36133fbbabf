/** `roster contacts runs` */
import { listRuns, type ListedRun, RunChange, runChanges, RunLog } from "@roster/workflows"
import { Effect, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { Output } from "../../../terminal/Output.ts"
import { countText } from "../../../terminal/Printable.ts"
import * as Results from "../../../terminal/Results.ts"
import { withExamples } from "../../shared/CommonFlags.ts"

const Run = Schema.Struct({
  id: Schema.String,
  command: Schema.String,
  began: Schema.String,
  /** Whether it came to its end; one that was stopped, or is still at work, did not. */
  ended: Schema.Boolean,
  state: Schema.Literals(["Finished", "Interrupted", "GoingOn"]),
  created: Schema.Int,
  changed: Schema.Int,
  deleted: Schema.Int,
  about: Schema.optionalKey(Schema.String),
  by: Schema.optionalKey(Schema.String),
  undoes: Schema.optionalKey(Schema.String),
  undoneBy: Schema.optionalKey(Schema.String),
  target: Schema.String
})

const shownOf = ({ counts, header, isEnded, state, undoneBy }: ListedRun): typeof Run.Type => ({
  ...header,
  ...counts,
  target: header.name ?? header.target,
  ended: isEnded,
  state,
  ...(undoneBy === undefined ? {} : { undoneBy: undoneBy.header.id })
})

const columns = [
  "id",
  "command",
  "about",
  "by",
  "state",
  "undoneBy",
  "created",
  "changed",
  "deleted",
  "target"
] as const

/** A run as people read it. */
const rowOf = ({ counts: { changed, created, deleted }, header, state, undoneBy }: ListedRun) => {
  const counts = [
    [created, "new"],
    [changed, "changed"],
    [deleted, "deleted"]
  ] as const
  const done = counts.flatMap(([count, what]) => (count === 0 ? [] : [`${countText(count)} ${what}`]))
  return {
    Run: header.id,
    What: header.command,
    Of: header.about ?? header.undoes ?? "",
    State: undoneBy === undefined ? stateWords[state] : `undone by ${undoneBy.header.id}`,
    When: header.began,
    Contacts: done.join(", ") || "none",
    Who: header.by ?? "",
    Target: header.name ?? header.target
  }
}

const stateWords = { Finished: "finished", Interrupted: "interrupted", GoingOn: "going on" } as const

const valueOf = (value: string | number | null): string => (value === null ? "none" : `${value}`)

/** The fields of a change with their values before the run and by it. */
const fieldWords = ({ fields }: RunChange): string =>
  fields.map(({ before, byRun, field }) => `${field}: ${valueOf(before)} -> ${valueOf(byRun)}`).join(", ")

const showChanges = Effect.fnUntraced(function* (id: string) {
  const { changes } = yield* runChanges(yield* (yield* RunLog).read(id))
  // The columns name fields of the records that are encoded, which are the changes themselves.
  const cells = (record: unknown) => {
    const change = Schema.decodeUnknownSync(RunChange)(record)
    const effect = change.isMade ? change.effect.toLowerCase() : "not made"
    return [
      ["email", change.email],
      ["effect", effect],
      ["fields", fieldWords(change)]
    ] as const
  }
  yield* Results.records(RunChange, ["email", "effect", "fields"], changes(), { fieldsIn: cells, hasSentences: true })
})

export const command = Command.make(
  "runs",
  {
    run: Argument.String("run").pipe(
      Argument.withDescription(
        "Show what this run changed, with the values before and of the run (default: list the runs)"
      ),
      Argument.withDefault(undefined)
    )
  },
  Effect.fnUntraced(function* ({ run }) {
    if (run !== undefined) return yield* showChanges(run)
    // Earlier versions recorded rotations of credentials, too.
    const runs = (yield* listRuns).filter(({ header }) => header.command !== "rotate")
    const { format } = yield* Output
    yield* format === "table"
      ? Results.rows(
          ["Run", "What", "Of", "State", "When", "Contacts", "Who", "Target"],
          Stream.fromIterable(runs.map(rowOf))
        )
      : Results.records(Run, columns, Stream.fromIterable(runs.map(shownOf)))
  })
).pipe(
  withExamples({
    "roster contacts runs": "",
    "roster contacts runs 20261121T140000Z-1a2b3c4d": "Show what a run changed",
    "roster contacts runs -o json | jq -r '.[0].id'": "Print the id of the last run"
  }),
  Command.provide(RunLogLayer.layerForReads)
)
