import { ContactsService, Rule, rule } from "@roster/domain"
import { Effect, Stream } from "effect"

/** A constant rule. */
const reachable = "status = Active AND lastopened > '2026-01-01'"

export const countReachable = ContactsService.use((contacts) => Stream.runCount(contacts.stream({ rule: reachable })))

/** A rule with a value. Whatever a person types as the city is a quoted text and never part of the syntax. */
export const activeIn = Effect.fnUntraced(function* (city: string) {
  const contacts = yield* ContactsService
  return yield* contacts.list({ rule: yield* rule`status = Active AND city = ${city}` })
})

/** A rule that a person writes. The message shows where a mistake is. */
export const problemOf = (text: string) =>
  Rule.fromText(text).pipe(
    Effect.as(undefined),
    Effect.catchTag("InvalidRule", ({ message }) => Effect.succeed(message))
  )
