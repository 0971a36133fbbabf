import { assert, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { layerServed, ServedRoster } from "@roster/testing"
import { addAll } from "@roster/workflows"
import { Effect, Redacted, Stream } from "effect"

it.live("adds customers over the network, and a program in any language finds them", () =>
  Effect.gen(function* () {
    yield* Stream.runDrain(addAll(Stream.make({ email: "ann@example.com" })))
    const contacts = yield* ContactsService
    assert.strictEqual((yield* contacts.get("ann@example.com")).status, "Active")
    // Another client, with the same address and key.
    const { apiKey, baseUrl } = yield* ServedRoster
    const headers = { "X-Service-ApiKey": apiKey === undefined ? "" : Redacted.value(apiKey) }
    const answer = yield* Effect.promise(() => fetch(`${baseUrl}/contacts/ann@example.com`, { headers }))
    assert.strictEqual(answer.status, 200)
  }).pipe(Effect.provide(layerServed))
)
