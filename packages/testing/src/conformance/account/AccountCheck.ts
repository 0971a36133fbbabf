/** Runs the suite on the account of a service, reports each case, and deletes what the cases made. */
import { type ContactsService, type CredentialsService, TaggedError } from "@roster/domain"
import { Characters } from "@roster/domain/internal"
import { probeAccess } from "@roster/workflows"
import { Console, Effect, Schema, Stream } from "effect"
import { type ConformanceCase, describeNeed, type Need, type Precondition, preconditions } from "../cases/Cases.ts"
import { withCleanUp } from "./CleanUp.ts"
import { type CaseResult, runConformance } from "./ConformanceRun.ts"
import { observations } from "./Observations.ts"

/** Cases failed on an account: its service does something else than the interface says. */
export class NotConformant extends TaggedError<NotConformant>()("NotConformant", { failed: Schema.Int }) {
  override get message(): string {
    return `${this.failed} cases failed: the service does something else than the interface says.`
  }
}

/** The number of characters of a problem or an answer that are shown. */
export const maximumProblem = 500

/** A text of a service on one line, cut beyond the bound, that cannot act on a terminal. */
const shown = (text: string): string => {
  const line = Characters.printable(text.replaceAll(/\s+/g, " ").trim())
  return line.length > maximumProblem ? `${line.slice(0, maximumProblem)}…` : line
}

const detailOf = ({ outcome }: CaseResult): string => {
  switch (outcome._tag) {
    case "Passed":
      return ""
    case "Failed":
      return `: ${shown(outcome.problem)}`
    case "Skipped":
      return `: it needs ${describeNeed(outcome.lacking)}`
  }
}

/**
 * Runs cases on the account of the services, a line on standard output for each, then what the service does where the
 * interface is silent. The cases add, change and delete contacts and credentials of their own; lists that they make stay.
 * `given` names what the account gives beyond any account: cases that need more are skipped. Fails with `NotConformant`.
 */
export const checkAccount = Effect.fnUntraced(function* <R>(
  cases: ReadonlyArray<ConformanceCase<R>>,
  { given = [] }: { readonly given?: ReadonlyArray<Precondition> } = {}
) {
  // A key that is not valid ends the program here.
  const lacking = (yield* probeAccess()).filter(({ granted }) => !granted).map(({ level }) => level)
  // The names are the keys of the record.
  const conditions = Object.keys(preconditions) as ReadonlyArray<Precondition>
  const lacks = new Set<Need>([...lacking, ...conditions.filter((name) => !given.includes(name))])
  const counts = { Passed: 0, Failed: 0, Skipped: 0 }
  const report = Effect.gen(function* () {
    yield* Stream.runForEach(runConformance(cases, { lacks }), (result) => {
      counts[result.outcome._tag]++
      return Console.log(`${result.outcome._tag.toLowerCase()}  ${result.area}: ${result.name}${detailOf(result)}`)
    })
    yield* Stream.runForEach(observations, ({ answer, question }) => Console.log(`seen  ${question} ${shown(answer)}`))
  })
  yield* withCleanUp<void, never, R | ContactsService | CredentialsService>(report)
  yield* Console.log(`${counts.Passed} passed, ${counts.Failed} failed, ${counts.Skipped} skipped.`)
  if (counts.Failed > 0) return yield* new NotConformant({ failed: counts.Failed })
})
