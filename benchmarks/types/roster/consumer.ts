/** A program of 30 lines that exports the contacts of a service, adds others and reports what became of them. */
import { NodeRuntime } from "@effect/platform-node"
import { ContactsService } from "@roster/domain"
import { formatWireDate } from "@roster/domain/internal"
import { RosterClient } from "@roster/http-client"
import { addAll } from "@roster/workflows"
import { Console, DateTime, Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"

const recent = Effect.fn("recent")(function* (days: number) {
  const contacts = yield* ContactsService
  const since = DateTime.subtract(yield* DateTime.now, { days })
  return contacts.stream({ rule: `dateadded > '${formatWireDate(since).slice(0, 10)}'` })
})

const program = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const ada = yield* contacts
    .get("ada@example.com")
    .pipe(Effect.catchTag("ContactNotFound", () => Effect.succeed(null)))
  yield* Console.log(ada?.firstName ?? "nobody")
  const newest = yield* recent(7)
  yield* Stream.runForEach(newest, ({ email, status = "Active" }) => Console.log(`${email} ${status}`))
  const outcomes = addAll(Stream.make("ada@example.com", "bob@example.com"), {
    toContact: (email) => ({ email, customFields: { plan: "gold" } }),
    listNames: ["newsletter"]
  })
  yield* Stream.runForEach(outcomes, ({ _tag, item }) => Console.log(`${item} ${_tag}`))
}).pipe(Effect.catchReason("ServiceError", "RateLimited", ({ retryAfter }) => Console.log(`later: ${retryAfter}`)))

const services = RosterClient.layerConfig().pipe(Layer.provide(FetchHttpClient.layer))
NodeRuntime.runMain(Effect.provide(program, services))
