/** Carries out a plan in the thread, held or ended by the page, which writes the entries of the run. */
import { type ImportPlan, RunLog, RunLogFailure } from "@roster/workflows"
import { Deferred, Effect, Latch } from "effect"
import type { ApplyEvent } from "./ImportCalls.ts"

/** Browsers open six connections to a service, of which the page needs some. */
const concurrentRequests = 4

/** What holds an apply or ends it, and the entries that the page has not written yet. */
export const makeApplies = () => {
  const latch = Latch.makeUnsafe(true)
  const unwritten = new Map<number, Deferred.Deferred<void, RunLogFailure>>()
  let isCancelled = false
  let number = 0

  /** The log of the page beside one of this thread, which knows what an earlier apply of the plan did. */
  const logBeside = (
    own: RunLog["Service"],
    tell: (event: ApplyEvent) => Effect.Effect<unknown>
  ): RunLog["Service"] => {
    const written = Effect.fnUntraced(function* (event: (number: number) => ApplyEvent) {
      const place = number++
      const answer = yield* Deferred.make<void, RunLogFailure>()
      unwritten.set(place, answer)
      yield* tell(event(place))
      yield* Deferred.await(answer)
    })
    const open: RunLog["Service"]["open"] = (options) =>
      Effect.map(own.open(options), (run) => ({
        ...run,
        append: (entry, options) =>
          Effect.andThen(
            written((number) => ({ _tag: "Append", number, entry, isDurable: options?.isDurable ?? true })),
            run.append(entry, options)
          ),
        end: Effect.andThen(
          written((number) => ({ _tag: "End", number })),
          run.end
        )
      }))
    return RunLog.of({ ...own, open })
  }

  const apply = Effect.fnUntraced(function* (plan: ImportPlan, tell: (event: ApplyEvent) => Effect.Effect<unknown>) {
    isCancelled = false
    latch.openUnsafe()
    const { report } = yield* plan
      .applyWith({
        command: "import",
        concurrency: concurrentRequests,
        proceed: Effect.map(latch.await, () => !isCancelled),
        onProgress: (rows) => tell({ _tag: "Done", rows })
      })
      .pipe(Effect.updateService(RunLog, (own) => logBeside(own, tell)))
    const { stoppedBy, ...counts } = report
    yield* tell({ _tag: "Report", report: { ...counts, problem: stoppedBy?.message } })
  })

  return {
    apply,
    hold: (isHeld: boolean, isEnded: boolean): void => {
      isCancelled ||= isEnded
      if (isHeld) latch.closeUnsafe()
      else latch.openUnsafe()
    },
    written: (place: number, problem: string | undefined) =>
      Effect.suspend(() => {
        const answer = unwritten.get(place)
        unwritten.delete(place)
        if (answer === undefined) return Effect.void
        return problem === undefined
          ? Deferred.succeed(answer, undefined)
          : Deferred.fail(answer, new RunLogFailure({ detail: problem }))
      })
  }
}
