/** `roster conformance` */
import type { Connection } from "@roster/connect"
import {
  type CaseResult,
  conformance,
  type ConformanceCase,
  describeNeed,
  type Need,
  observations,
  type Observation,
  type Precondition,
  preconditions,
  runConformance,
  withCleanUp
} from "@roster/testing/conformance"
import { probeAccess } from "@roster/workflows"
import { Effect, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { refuse } from "../../errors/UsageError.ts"
import { texts } from "../../settings/FlagForms.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { Output, turn } from "../../terminal/Output.ts"
import { printable } from "../../terminal/Printable.ts"
import * as Results from "../../terminal/Results.ts"
import { confirm, yes } from "../shared/Confirm.ts"
import { withExamples } from "../shared/CommonFlags.ts"

/** The service does something else than the interface says. */
export class NotConformant extends Schema.TaggedError<NotConformant>()("NotConformant", { message: Schema.String }) {}

/** The number of characters of a problem that are shown. */
export const maximumProblem = 500

const Finding = Schema.Struct({
  result: Schema.Literals(["passed", "failed", "skipped", "observed"]),
  area: Schema.String,
  name: Schema.String,
  detail: Schema.String
}).pipe(Schema.encodeKeys({ result: "Result", area: "Area", name: "Case", detail: "Detail" }))
type Finding = typeof Finding.Type

/** A problem on one line, cut beyond the bound. */
export const shortened = (problem: string): string => {
  const line = problem.replaceAll(/\s+/g, " ").trim()
  return line.length > maximumProblem ? `${line.slice(0, maximumProblem)}…` : line
}

const findingOf = ({ area, name, outcome }: CaseResult): Finding => {
  switch (outcome._tag) {
    case "Passed":
      return { result: "passed", area, name, detail: "" }
    case "Failed":
      return { result: "failed", area, name, detail: shortened(outcome.problem) }
    case "Skipped":
      return { result: "skipped", area, name, detail: `it needs ${describeNeed(outcome.lacking)}` }
  }
}

const silence = "where the interface is silent"

const findingOfObservation = ({ answer, question }: Observation): Finding => ({
  result: "observed",
  area: silence,
  name: question,
  detail: shortened(answer)
})

/** A finding as lines for people, below the name of its area. */
export const findingLines = () => {
  let last = ""
  return ({ area, detail, name, result }: Finding): string => {
    const heading = area === last ? "" : `\n${area}\n`
    last = area
    return (
      `${heading}  ${result.padEnd(8)}  ` +
      `${printable(name)}\n${detail === "" ? "" : `${" ".repeat(12)}${printable(detail)}\n`}`
    )
  }
}

const print = <R>(findings: Stream.Stream<Finding, never, R>) =>
  Effect.flatMap(Output, (output) =>
    output.format === "table"
      ? output.write(Stream.map(findings, findingLines()))
      : Results.records(Finding, ["Result", "Area", "Case", "Detail"], findings)
  )

// The names are the keys of the record.
const names = Object.keys(preconditions) as ReadonlyArray<Precondition>

export const command = Command.make(
  "conformance",
  {
    service: Flag.Literals("service", ["all", "contacts", "credentials", "emails"]).pipe(
      Flag.withDescription("The service whose cases run (default: all)"),
      Flag.withDefault("all" as const)
    ),
    area: texts("area", "Only the cases of areas whose name contains TEXT, such as: reads after writes"),
    given: Flag.Literals("given", names).pipe(
      Flag.withDescription(
        "Run also the cases that need this from the account; own-account lets them delete by rules and fill the account"
      ),
      Flag.between(0, names.length)
    ),
    yes
  },
  Effect.fnUntraced(function* ({ area, given, service, yes }) {
    const all: ReadonlyArray<ConformanceCase<Connection.Services>> = conformance[service]()
    const isWanted = (name: string) => area.length === 0 || area.some((text) => name.includes(text))
    const cases = all.filter((one) => isWanted(one.area))
    const observes = (service === "all" || service === "contacts") && isWanted(silence)
    if (cases.length === 0 && !observes) {
      const areas = [...new Set([...all.map((one) => one.area), silence])]
      return yield* refuse("area", `no area has such a name; the areas are: ${areas.join("; ")}`)
    }
    yield* confirm(
      `run ${cases.length} cases in this account, which add, change and delete contacts and credentials of ` +
        "their own; lists that they make stay",
      { yes }
    )
    const output = yield* Output
    // A key that is not valid ends the command here.
    const lacking = (yield* probeAccess()).filter(({ granted }) => !granted).map(({ level }) => level)
    const lacks = new Set<Need>([...lacking, ...names.filter((name) => !given.includes(name))])
    const counts = { passed: 0, failed: 0, skipped: 0, observed: 0 }
    const findings = Stream.concat(
      Stream.map(runConformance(cases, { lacks }), findingOf),
      observes ? Stream.map(observations, findingOfObservation) : Stream.empty
    ).pipe(Stream.tap(({ result }) => Effect.map(turn, () => counts[result]++)))
    yield* withCleanUp(
      print(findings).pipe(Effect.ensuring(Effect.suspend(() => output.note("Deleting what the cases made."))))
    )
    const { failed, passed, skipped } = counts
    yield* output.note(`${passed} passed, ${failed} failed, ${skipped} skipped.`)
    if (failed > 0) {
      return yield* new NotConformant({
        message: `${failed} of ${passed + failed} cases failed: the service does something else than the interface says.`
      })
    }
  })
).pipe(
  withExamples({
    "roster conformance --profile staging": "",
    'roster conformance --area "reads after writes"': "Run the cases of one area",
    "roster conformance --profile staging --given own-account --given subaccounts --yes -o json":
      "Run also the cases that may lose what is in the account"
  }),
  Command.provide(TargetLayer.layer)
)
