/** Rules and filters as they are sent. */
import { checkFilter, checkRule, type ContactFilter, type ContactRule, InvalidRule, ruleSource } from "@roster/domain"
import { Effect } from "effect"
import { inQuery } from "./UrlValue.ts"

/** Checks a rule before it is sent. */
export const ruleToSend = Effect.fnUntraced(function* (rule: ContactRule) {
  const text = yield* Effect.fromResult(checkRule(rule))
  yield* inQuery("rule", [text])
  return text
})

/** Adds the rule to an error, which has only its position on the wire. */
export const inRule =
  (rule: ContactRule | undefined) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E | InvalidRule, R> =>
    Effect.mapError(call, (error) => {
      if (!(error instanceof InvalidRule) || rule === undefined) return error
      const { expected, hint, length, position, problem } = error
      const rest = hint === undefined ? {} : { hint }
      return new InvalidRule({ rule: ruleSource(rule), position, length, problem, expected, ...rest })
    })

/** Checks a filter before it is sent, and gives it as a body has it. */
export const filterToSend = Effect.fnUntraced(function* (filter: ContactFilter) {
  yield* checkFilter(filter)
  return filter._tag === "ByRule" ? { rule: yield* ruleToSend(filter.rule) } : { emails: filter.emails }
})
