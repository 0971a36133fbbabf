/** The cases of the suite as values: named effects, which a test runner registers and a program runs. */
import { type AccessLevel, TaggedError } from "@roster/domain"
import { Cause, Effect, Schema, type Scope } from "effect"
import { AssertionError } from "node:assert"
import { format } from "node:util"

/** What some cases need beside a service that does as the interface says, each in words that follow "it needs". */
export const preconditions = {
  "own-account": "an account that nobody else uses and whose contacts and credentials may all be lost",
  subaccounts: "subaccounts that exist from their first credential on",
  senders: "a service that takes mail from example.com, and sends it nowhere",
  "no-fetching": "a service that fetches no files by their address",
  "idempotency-keys": "a service that keeps answers under the idempotency keys of its callers",
  runs: "a service that keeps runs",
  lists: "a service that has the operations on lists",
  orders: "a service that lists contacts by address, and from the newest on",
  account: "a service that tells what an account has besides contacts and credentials"
} as const

/** The name of a precondition. */
export type Precondition = keyof typeof preconditions

/** What a case needs: a precondition, or an access level of the key. */
export type Need = AccessLevel | Precondition

const isPrecondition = (need: Need): need is Precondition => Object.hasOwn(preconditions, need)

/** The need in words that follow "it needs". */
export const describeNeed = (need: Need): string =>
  isPrecondition(need) ? preconditions[need] : `a key with the level ${need}`

/** A case failed: the service did something else than the interface says, or nothing at all. */
export class CaseFailed extends TaggedError<CaseFailed>()("CaseFailed", {
  /** What was wrong, in words. */
  problem: Schema.String,
  /** The assertion, error or defect that ended the case. */
  cause: Schema.Defect()
}) {
  override get message(): string {
    return this.problem
  }
}

/** One promise of the interface, as an effect that fails where a service does not keep it. */
export interface ConformanceCase<R> {
  /** What is promised about, such as `contacts: list`. */
  readonly area: string
  /** The promise. Area and name together are unique. */
  readonly name: string
  /** What the case needs of the account and its key. */
  readonly needs: ReadonlyArray<Need>
  /** Runs the case on any service, in a part of the account that no other case uses. */
  readonly run: Effect.Effect<void, CaseFailed, R>
}

/** The milliseconds after which a case that has not ended is a failed one. */
export const caseTimeout = 60_000

type Run<R> = Effect.Effect<unknown, unknown, R | Scope.Scope>

/** What the files of cases register with, in the form of a test runner's `it`. */
export interface Cases<R> {
  /** Names the area of the cases that the body registers. */
  readonly describe: (area: string, body: () => void) => void
  /** Registers a case. */
  readonly effect: {
    (name: string, body: () => Run<R>): void
    /** Registers a case for each value; `%s` and `%j` in the name stand for its parts. */
    readonly each: <A>(values: ReadonlyArray<A>) => (name: string, body: (value: A) => Run<R>) => void
  }
  /** Registers cases that need more than the others of their group. */
  readonly needing: (...needs: ReadonlyArray<Need>) => Cases<R>
}

const problemOf = (cause: unknown): string =>
  cause instanceof AssertionError
    ? cause.message
    : cause instanceof Error
      ? `${cause.name}: ${cause.message}`
      : String(cause)

/** A body as a case runs it: whatever ends it but an interruption is a failure of the case. */
const runOf = <R>(body: () => Run<R>): Effect.Effect<void, CaseFailed, Exclude<R, Scope.Scope>> =>
  Effect.suspend(body).pipe(
    Effect.scoped,
    Effect.asVoid,
    Effect.catchCause((cause): Effect.Effect<never, CaseFailed> => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
      const ended = Cause.squash(cause)
      return Effect.fail(new CaseFailed({ problem: problemOf(ended), cause: ended }))
    })
  )

/** The name for one of several values: each placeholder stands for the next part of the value. */
const nameOf = (name: string, value: unknown): string => {
  const parts: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  return format(name, ...parts.slice(0, name.match(/%[sj]/g)?.length ?? 0))
}

/** The cases that a function registers, all with the needs of their group. */
export const casesOf = <R>(
  register: (it: Cases<R>) => void,
  ofGroup: ReadonlyArray<Need> = []
): ReadonlyArray<ConformanceCase<R>> => {
  const cases: Array<ConformanceCase<R>> = []
  let area = ""
  const registering = (needs: ReadonlyArray<Need>): Cases<R> => {
    const effect = (name: string, body: () => Run<R>): void => {
      cases.push({ area, name, needs, run: runOf(body) })
    }
    const each: Cases<R>["effect"]["each"] = (values) => (name, body) => {
      for (const value of values) effect(nameOf(name, value), () => body(value))
    }
    return {
      describe: (title, body) => {
        const outer = area
        area = title
        body()
        area = outer
      },
      effect: Object.assign(effect, { each }),
      needing: (...more) => registering([...needs, ...more])
    }
  }
  register(registering(ofGroup))
  return cases
}
