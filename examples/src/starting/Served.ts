import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Layer } from "effect"

/** The service at ROSTER_BASE_URL, with ROSTER_API_KEY. */
export const services = RosterClient.layerConfig().pipe(Layer.provide(UndiciHttpClient.layer()))
