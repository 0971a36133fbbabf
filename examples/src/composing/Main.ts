import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Config, Console, Data, Effect, Layer, Runtime } from "effect"

const program = Effect.gen(function* () {
  const contacts = yield* ContactsService
  for (const { email } of yield* contacts.list({ limit: 10 })) yield* Console.log(email)
})

const services = RosterClient.layerConfig({
  baseUrl: Config.String("CRM_URL"),
  apiKey: Config.Redacted("CRM_KEY")
}).pipe(Layer.provide(UndiciHttpClient.layer()))

/** Ends the program with exit code 1, and has no stack printed. */
class Stopped extends Data.TaggedError("Stopped") {
  override readonly [Runtime.errorReported] = false
}

/** Prints the message, which says how to correct the setting. */
const tell = ({ message }: { readonly message: string }) =>
  Effect.andThen(Console.error(message), Effect.fail(new Stopped()))

NodeRuntime.runMain(
  program.pipe(Effect.provide(services), Effect.catchTags({ ConfigError: tell, InvalidSettings: tell }))
)
