/** Runs cases one after the other, on an account that may not give all that they need. */
import { AccessLevel, ServiceError } from "@roster/domain"
import { Data, Effect, Stream } from "effect"
import { caseTimeout, type CaseFailed, type ConformanceCase, type Need } from "../cases/Cases.ts"

/** How a case ended. */
export type CaseOutcome = Data.TaggedEnum<{
  Passed: {}
  Failed: { readonly problem: string }
  /** The case was not run, or not to its end, since the account does not give what it needs. */
  Skipped: { readonly lacking: Need }
}>

/** The constructors and the matcher of `CaseOutcome`. */
export const CaseOutcome = Data.taggedEnum<CaseOutcome>()

/** A case and how it ended. */
export interface CaseResult {
  readonly area: string
  readonly name: string
  readonly outcome: CaseOutcome
}

/** The access level for lack of which a case failed. */
const deniedLevel = ({ cause }: CaseFailed): AccessLevel | undefined => {
  const required =
    cause instanceof ServiceError && cause.reason._tag === "AccessDenied" ? cause.reason.required : undefined
  return AccessLevel.literals.find((level) => level === required)
}

const tooLong = CaseOutcome.Failed({ problem: `it did not end within ${caseTimeout / 1000} s` })

/** Runs the cases in their order, and tells how each ended. `lacks` is what the account does not give. */
export const runConformance = <R>(
  cases: ReadonlyArray<ConformanceCase<R>>,
  { lacks = new Set() }: { readonly lacks?: ReadonlySet<Need> } = {}
): Stream.Stream<CaseResult, never, R> =>
  Stream.fromIterable(cases).pipe(
    Stream.mapEffect(({ area, name, needs, run }) => {
      const lacking = needs.find((need) => lacks.has(need))
      const outcome: Effect.Effect<CaseOutcome, never, R> =
        lacking === undefined
          ? run.pipe(
              Effect.as<CaseOutcome>(CaseOutcome.Passed()),
              Effect.timeoutOrElse({ duration: caseTimeout, orElse: () => Effect.succeed(tooLong) }),
              Effect.catch((failed) => {
                const denied = deniedLevel(failed)
                return Effect.succeed(
                  denied === undefined
                    ? CaseOutcome.Failed({ problem: failed.problem })
                    : CaseOutcome.Skipped({ lacking: denied })
                )
              })
            )
          : Effect.succeed(CaseOutcome.Skipped({ lacking }))
      return Effect.map(outcome, (outcome): CaseResult => ({ area, name, outcome }))
    })
  )
