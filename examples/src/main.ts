/** Runs the application against a remote service. The settings are ROSTER_BASE_URL and ROSTER_API_KEY. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Console, Effect, Layer } from "effect"
import { application } from "./SignUp.ts"

const services = RosterClient.layerConfig().pipe(Layer.provide(UndiciHttpClient.layer()))

application.pipe(Effect.flatMap(Console.log), Effect.provide(services), NodeRuntime.runMain)
