import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { checkAccount, conformance } from "@roster/testing/conformance"
import { Effect, Layer } from "effect"

// The service at ROSTER_BASE_URL, with ROSTER_API_KEY.
const services = RosterClient.layerConfig().pipe(Layer.provide(UndiciHttpClient.layer()))

const check = checkAccount(conformance.all(), { given: ["subaccounts", "no-fetching"] })

NodeRuntime.runMain(Effect.provide(check, services))
