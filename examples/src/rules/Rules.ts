import { ContactsService, Rule, rule, RuleText } from "@roster/domain"
import { Effect, Stream } from "effect"

/** A rule that stands in the program. */
const reachable = RuleText.make("status = Active AND lastopened > '2026-01-01'")

export const countReachable = ContactsService.use((contacts) => Stream.runCount(contacts.stream({ rule: reachable })))

/** A rule made of values. Whatever a person types as the city is a text of the rule and never a part of its syntax. */
export const activeIn = Effect.fnUntraced(function* (city: string) {
  const contacts = yield* ContactsService
  return yield* contacts.list({ rule: yield* rule`status = Active AND city = ${city}` })
})

/** A rule that a person writes. The message shows the place of a mistake. */
export const problemOf = (text: string) =>
  Rule.fromText(text).pipe(
    Effect.as(undefined),
    Effect.catchTag("InvalidRule", ({ message }) => Effect.succeed(message))
  )
