import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Config, Console, Effect, Layer } from "effect"

const program = Effect.gen(function* () {
  const contacts = yield* ContactsService
  for (const { email } of yield* contacts.list({ limit: 10 })) yield* Console.log(email)
})

const services = RosterClient.layerConfig({
  baseUrl: Config.String("CRM_URL"),
  apiKey: Config.Redacted("CRM_KEY")
}).pipe(Layer.provide(UndiciHttpClient.layer()))

NodeRuntime.runMain(program.pipe(Effect.provide(services)))
