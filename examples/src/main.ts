/** Takes a form against a remote service. The settings are ROSTER_BASE_URL and ROSTER_API_KEY. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Console, DateTime, Effect, Layer } from "effect"
import { Links, signUp } from "./signup/SignUp.ts"

const services = RosterClient.layerConfig().pipe(Layer.provide(UndiciHttpClient.layer()))

const links = Layer.succeed(Links, {
  make: ({ id }) => Effect.succeed(`https://example.com/confirm/${id}`),
  read: () => Effect.undefined
})

DateTime.now.pipe(
  Effect.flatMap((at) => signUp({ id: "1", email: "ada@example.com", firstName: "Ada", ip: "192.0.2.1", at })),
  Effect.flatMap(Console.log),
  Effect.provide(Layer.merge(services, links)),
  NodeRuntime.runMain
)
