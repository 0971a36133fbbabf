/** A condition that only Roster has is sent to no other service. */
import { assert, describe, it } from "@effect/vitest"
import { listsHonoured } from "@roster/api"
import { ContactFilter, ContactsService, InvalidRule, ListsService, RuleText } from "@roster/domain"
import { rawRule } from "@roster/domain/internal"
import { Effect, Layer, Redacted, Result } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { RosterClient } from "../../src/index.ts"

const rule = RuleText.make("firstname = 'Ann' AND ON-LIST 'News'")

/** A service that says this of itself, and records what it is asked. */
const service = (headers: Readonly<Record<string, string>>) => {
  const sent: Array<string> = []
  const client = HttpClient.make((request, url) => {
    sent.push(`${request.method} ${url.pathname}${decodeURIComponent(url.search.replaceAll("+", " "))}`)
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json([], { headers })))
  })
  const layer = RosterClient.layer({ baseUrl: "https://roster.test/v4", apiKey: Redacted.make("key") }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
  )
  return { sent, layer }
}

describe("a rule about lists", () => {
  it.effect("is refused before it is sent to a service that does not know it, and points at the condition", () => {
    const { layer, sent } = service({})
    return Effect.gen(function* () {
      const contacts = yield* ContactsService
      const lists = yield* ListsService
      const filter = ContactFilter.ByRule({ rule })
      const calls: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        contacts.list({ rule }),
        contacts.count({ rule }),
        contacts.fields({ rule }),
        contacts.deleteMany(filter),
        contacts.export({ filter }),
        lists.add("News", filter),
        lists.remove("News", filter)
      ]
      for (const call of calls) {
        const error = yield* Effect.flip(call)
        assert.instanceOf(error, InvalidRule)
        assert.strictEqual(error.position, rule.indexOf("ON-LIST"))
      }
      // It was asked once what it is.
      assert.deepStrictEqual(sent, ["GET /v4/contacts?limit=1"])
      // A raw rule is the caller's own.
      yield* contacts.list({ rule: Result.getOrThrow(rawRule("on-list 'News'")) })
      assert.strictEqual(sent.length, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is sent to one that says so, and other rules to every service", () => {
    const { layer, sent } = service({ [listsHonoured.name]: listsHonoured.value })
    return Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* contacts.list({ rule: RuleText.make("city = 'on-list'") })
      assert.strictEqual(sent.length, 1)
      yield* contacts.list({ rule })
      assert.deepStrictEqual(sent.at(-1), `GET /v4/contacts?rule=${rule}`)
    }).pipe(Effect.provide(layer))
  })
})
