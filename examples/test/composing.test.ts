/** What docs/composing.md shows, run. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ContactNotFound, ContactsService, FaultPlan, InvalidInput, ServiceError } from "@roster/domain"
import { InvalidSettings, RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { EmbeddedHttpClient, layerMemory, RosterServer } from "@roster/server"
import { addAll } from "@roster/workflows"
import { type Config, ConfigProvider, Context, Effect, Layer, LayerMap, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse, HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder, HttpApiTest } from "effect/http-api"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { accounts, invite, NewsContacts, ShopContacts } from "../src/composing/Accounts.ts"
import { CustomersApi, customers } from "../src/composing/CustomersApi.ts"
import { contactsOf, openContacts } from "../src/composing/Promises.ts"
import { recentOf, Tenants } from "../src/composing/Tenants.ts"

const ada = { email: "ada@example.com", firstName: "Ada" }
const url = EmbeddedHttpClient.baseUrl

/** One store, at any address. */
const service = EmbeddedHttpClient.layer({ filename: ":memory:" })
const settings = (env: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromUnknown(env))

describe("two accounts in one application", () => {
  const shop = Layer.effect(ShopContacts, ContactsService).pipe(Layer.provide(layerMemory()))
  const news = Layer.effect(NewsContacts, ContactsService).pipe(Layer.provide(layerMemory()))

  it.effect("are two stores", () =>
    Effect.gen(function* () {
      yield* ShopContacts.use((contacts) => contacts.add([ada]))
      assert.deepStrictEqual(yield* NewsContacts.use((contacts) => contacts.list()), [])
      assert.strictEqual(yield* invite, 1)
      assert.strictEqual((yield* NewsContacts.use((contacts) => contacts.get(ada.email))).firstName, "Ada")
      // A workflow on one of them.
      yield* addAll(Stream.make({ email: "bob@example.com" })).pipe(
        Stream.runDrain,
        Effect.provideServiceEffect(ContactsService, ShopContacts)
      )
      assert.strictEqual((yield* ShopContacts.use((contacts) => contacts.list())).length, 2)
    }).pipe(Effect.provide(Layer.merge(shop, news)))
  )

  const env = { SHOP_URL: url, SHOP_KEY: "shop", NEWS_URL: url, NEWS_KEY: "news" }
  it.effect("come from settings of their own names", () =>
    Effect.gen(function* () {
      yield* ShopContacts.use((contacts) => contacts.add([ada]))
      assert.strictEqual(yield* invite, 1)
    }).pipe(Effect.provide(accounts.pipe(Layer.provide([service, settings(env)]))))
  )

  it.effect("name the setting that cannot be used", () =>
    Effect.gen(function* () {
      const built = Layer.build(accounts.pipe(Layer.provide([service, settings({ ...env, NEWS_KEY: "a b" })])))
      const error = yield* Effect.flip(built)
      assert.instanceOf(error, InvalidSettings)
      assert.strictEqual(error.variable, "NEWS_KEY")
    }).pipe(Effect.scoped)
  )
})

type Services = Layer.Success<ReturnType<typeof layerMemory>>

describe("tenants", () => {
  it.effect("have an account each", () =>
    Effect.gen(function* () {
      const add = ContactsService.use((contacts) => contacts.add([ada]))
      yield* add.pipe(Effect.provide(Tenants.get("acme")))
      assert.deepStrictEqual(yield* recentOf("acme"), ["ada@example.com"])
      assert.deepStrictEqual(yield* recentOf("globex"), [])
    }).pipe(
      Effect.provideServiceEffect(
        Tenants,
        LayerMap.make((): Layer.Layer<Services, InvalidSettings | Config.ConfigError> => Layer.fresh(layerMemory()), {
          idleTimeToLive: "10 minutes"
        })
      )
    )
  )

  it.live("are found by their settings, and no HttpClient of a caller gets their keys", () =>
    Effect.gen(function* () {
      let key: Redacted.Redacted<string> | undefined
      const server = yield* Layer.build(
        RosterServer.layer({
          port: 0,
          store: { filename: ":memory:" },
          onAdministratorKey: (made) => Effect.sync(() => void (key = made))
        })
      )
      const { address } = Context.get(server, RosterServer.RosterServer)
      const seen: Array<string> = []
      const caller = HttpClient.make((request) => {
        seen.push(request.url)
        return Effect.succeed(HttpClientResponse.fromWeb(request, new Response("[]", { status: 404 })))
      })
      const given = { ROSTER_BASE_URL: address, TENANT_ACME_KEY: key === undefined ? "" : Redacted.value(key) }
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* recentOf("acme"), [])
        assert.strictEqual((yield* Effect.flip(recentOf("nobody")))._tag, "InvalidSettings")
      }).pipe(
        Effect.provideService(HttpClient.HttpClient, caller),
        Effect.provide(Tenants.layer.pipe(Layer.provide(settings(given))))
      )
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describe("an interface of one's own", () => {
  const client = HttpApiTest.groups(CustomersApi, ["customers"])
  const plan = FaultPlan.make({ "contacts.get": { 4: FaultPlan.rateLimited(3) } })
  const services = layerMemory().pipe(FaultPlan.layer(plan))
  const handlers = customers.pipe(Layer.provideMerge(services), Layer.provideMerge(HttpServer.layerServices))

  it.effect("gives its clients Roster's errors", () =>
    Effect.gen(function* () {
      yield* ContactsService.use((contacts) => contacts.add([ada]))
      const { customers } = yield* client
      const get = (email: string) => customers.get({ params: { email } })
      assert.deepStrictEqual(yield* get(ada.email), ada)
      assert.instanceOf(yield* Effect.flip(get("bob@example.com")), ContactNotFound)
      assert.instanceOf(yield* Effect.flip(get(" ")), InvalidInput)
      const busy = yield* Effect.flip(get(ada.email))
      assert.strictEqual(busy._tag === "ServiceError" && busy.reason._tag, "RateLimited")
    }).pipe(Effect.provide(handlers))
  )

  it("answers them with the statuses that it gives them", async () => {
    const routes = HttpApiBuilder.layer(CustomersApi).pipe(
      Layer.provide(customers),
      Layer.provide([layerMemory(), HttpServer.layerServices])
    )
    const { dispose, handler } = HttpRouter.toWebHandler(routes, { disableLogger: true })
    const answer = await handler(new Request("http://localhost/customers/bob@example.com"))
    assert.strictEqual(answer.status, 404)
    assert.deepStrictEqual(await answer.json(), { _tag: "ContactNotFound", email: "bob@example.com" })
    await dispose()
  })
})

describe("promises", () => {
  it("reject with the tagged errors", async () => {
    const contacts = openContacts(":memory:")
    await contacts.add("ada@example.com")
    assert.strictEqual((await contacts.find("ada@example.com")).email, "ada@example.com")
    const error: unknown = await contacts.find("bob@example.com").catch((error: unknown) => error)
    assert.instanceOf(error, ContactNotFound)
    await contacts.close()
  })

  it("tell by an abort signal that the outcome of a write is unknown", async () => {
    const keys: Array<string | undefined> = []
    const held: Array<ServerResponse> = []
    // Takes each add, and answers the second one.
    const server = createServer(async (request, response) => {
      for await (const _ of request);
      keys.push(request.headers["idempotency-key"]?.toString())
      if (keys.length > 1) response.setHeader("Content-Type", "application/json").end(`[{"Email":"${ada.email}"}]`)
      else server.emit("held", held.push(response))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    // The address of a server that listens on a port.
    const { port } = server.address() as AddressInfo
    const client = RosterClient.layer({ baseUrl: `http://127.0.0.1:${port}/v4`, apiKey: Redacted.make("a-key") })
    const contacts = contactsOf(client.pipe(Layer.provide(UndiciHttpClient.layer())))
    const aborted = new AbortController()
    const isHeld = once(server, "held")
    const adding = contacts.add(ada.email, { idempotencyKey: "sign-up-1", signal: aborted.signal })
    const ended = adding.catch((error: unknown) => error)
    await isHeld
    aborted.abort()
    const error = await ended
    assert.strictEqual(error instanceof ServiceError && error.reason._tag, "OutcomeUnknown")
    await contacts.add(ada.email, { idempotencyKey: "sign-up-1" })
    assert.deepStrictEqual(keys, ["sign-up-1", "sign-up-1"])
    await contacts.close()
    server.close()
    await once(server, "close")
  })
})
