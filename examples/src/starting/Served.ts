import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"

export const services = RosterClient.layer({
  baseUrl: "http://127.0.0.1:4010/v4",
  apiKey: Redacted.make(readFileSync("admin.key", "utf8").trim())
}).pipe(Layer.provide(UndiciHttpClient.layer()))
