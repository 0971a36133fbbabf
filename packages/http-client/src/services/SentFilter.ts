/** Rules and filters as they are sent. */
import { checkRule, type ContactFilter, InvalidRule, parseRule, Rule, type ServiceError } from "@roster/domain"
import { checkFilter, type ContactRule, ruleSource } from "@roster/domain/internal"
import { Effect, Result } from "effect"
import { inQuery } from "./UrlValue.ts"

const onList = /\bon-list\b/i

/** Whether a rule asks who is on a list. One for the service alone is nobody's to read. */
const asksForLists = (rule: ContactRule): boolean =>
  typeof rule === "string" &&
  // Parsed again only if it may be so.
  onList.test(rule) &&
  Result.match(parseRule(rule), { onSuccess: Rule.namesLists, onFailure: () => false })

/** Makes the functions that check what is sent: a condition that only Roster has goes to no other service. */
export const makeSent = (knowsLists: Effect.Effect<boolean, ServiceError>) => {
  /** Checks a rule before it is sent. */
  const ruleToSend = Effect.fnUntraced(function* (rule: ContactRule) {
    const text = yield* Effect.fromResult(checkRule(rule))
    yield* inQuery("rule", [text])
    if (asksForLists(rule) && !(yield* knowsLists)) {
      const position = text.search(onList)
      return yield* new InvalidRule({
        rule: text,
        position,
        length: "on-list".length,
        problem: "this service has no condition about lists",
        expected: []
      })
    }
    return text
  })

  /** Checks a filter before it is sent, and gives it as a body has it. */
  const filterToSend = Effect.fnUntraced(function* (filter: ContactFilter) {
    yield* checkFilter(filter)
    return filter._tag === "ByRule" ? { rule: yield* ruleToSend(filter.rule) } : { emails: filter.emails }
  })

  return { filterToSend, ruleToSend }
}

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
