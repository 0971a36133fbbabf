/** The lists of contacts are asked for at no service that does not say that it tells them. */
import { assert, describe, it } from "@effect/vitest"
import { listsHonoured, readsHonoured } from "@roster/api"
import { ContactsService, ListsService } from "@roster/domain"
import { Effect, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { RosterClient } from "../../src/index.ts"

const ann = { Email: "ann@example.com", DateAdded: "2026-01-01T00:00:00" }

/** A service that says this of itself, and records what it is asked. */
const service = (headers: Readonly<Record<string, string>>) => {
  const sent: Array<string> = []
  const client = HttpClient.make((request, url) => {
    sent.push(`${request.method} ${url.pathname}${url.search}`)
    const told = url.searchParams.has("lists") ? { ...ann, Lists: ["News"] } : ann
    const page = url.searchParams.has("offset", "0") || !url.searchParams.has("offset") ? [told] : []
    const answer = url.pathname.endsWith("example.com") ? told : page
    return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(answer, { headers })))
  })
  const layer = RosterClient.layer({ baseUrl: "https://roster.test/v4", apiKey: Redacted.make("key") }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
  )
  return { sent, layer }
}

/** Every read of contacts, and the lists of the one that each gives. */
const reads = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const lists = yield* ListsService
  const email = "ann@example.com"
  const found = [
    yield* contacts.get(email, { lists: true }),
    ...(yield* contacts.list({ limit: 1, lists: true })),
    ...(yield* Stream.runCollect(contacts.stream({ lists: true }))),
    ...(yield* contacts.getMany([email], { lists: true })).contacts,
    ...(yield* lists.contacts("News", { lists: true }))
  ]
  return found.map(({ lists }) => lists)
})

describe("the lists of contacts", () => {
  it.effect("are asked for at a service that tells them", () => {
    const { layer, sent } = service({
      [listsHonoured.name]: listsHonoured.value,
      [readsHonoured.name]: readsHonoured.value
    })
    return Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* reads,
        Array.from({ length: 5 }, () => ["News"])
      )
      // The first answer says that it tells them.
      assert.deepStrictEqual(sent.slice(0, 2), [
        "GET /v4/contacts/ann%40example.com",
        "GET /v4/contacts/ann%40example.com?lists=true"
      ])
      assert.deepStrictEqual(
        sent.slice(2).filter((call) => !call.includes("lists=true")),
        []
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("are in no export of another service, which is asked for none", () => {
    const { layer, sent } = service({})
    return Effect.gen(function* () {
      const error = yield* Effect.flip(ContactsService.use((contacts) => contacts.export({ lists: true })))
      assert.match(error.message, /does not tell the lists/)
      assert.deepStrictEqual(sent, ["GET /v4/contacts?limit=1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("are asked for at no other, which answers as always", () => {
    const { layer, sent } = service({})
    return Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* reads,
        Array.from({ length: 5 }, () => undefined)
      )
      assert.deepStrictEqual(
        sent.filter((call) => call.includes("lists=true")),
        []
      )
    }).pipe(Effect.provide(layer))
  })
})
