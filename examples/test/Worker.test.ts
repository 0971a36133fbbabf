/** The Worker against a service on a socket, as it meets one at the edge of a network. */
import { assert, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { RosterClient, FetchTransport } from "@roster/http-client"
import { RosterServer } from "@roster/server"
import { Context, Effect, Layer, Redacted } from "effect"
import worker from "../src/Worker.ts"

it.live("a Worker adds who signs up, and refuses what is no address", () =>
  Effect.gen(function* () {
    let apiKey = Redacted.make("")
    const served = yield* Layer.build(
      RosterServer.layer({
        port: 0,
        store: { filename: ":memory:" },
        onAdministratorKey: (key) =>
          Effect.sync(() => {
            apiKey = key
          })
      })
    )
    const { address } = Context.get(served, RosterServer.RosterServer)
    const env = { ROSTER_BASE_URL: address, ROSTER_API_KEY: Redacted.value(apiKey) }
    const post = (body: string) =>
      Effect.promise(() => worker.fetch(new Request("https://worker.example/", { method: "POST", body }), env))

    assert.strictEqual((yield* post("ann@example.com")).status, 200)
    assert.strictEqual((yield* post("ann at example.com")).status, 400)
    const get = yield* Effect.promise(() => worker.fetch(new Request("https://worker.example/"), env))
    assert.strictEqual(get.status, 405)
    const services = RosterClient.layer({ baseUrl: address, apiKey }).pipe(Layer.provide(FetchTransport.layer()))
    const contacts = ContactsService.use((contacts) => contacts.list()).pipe(Effect.provide(services))
    assert.deepStrictEqual(
      (yield* contacts).map(({ email }) => email),
      ["ann@example.com"]
    )
  })
)
