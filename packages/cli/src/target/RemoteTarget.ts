/** A service over the network. */
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Effect, Layer, Redacted } from "effect"
import { keyFrom, MissingKey } from "../settings/ApiKeySource.ts"
import type { Settings } from "../settings/Settings.ts"
import { dryRunClient } from "./DryRunClient.ts"
import { Target } from "./Target.ts"

const transport = UndiciHttpClient.layer()

export const layer = (
  { apiKeyHeader, apiKeyPrefix, baseUrl, key }: Extract<Settings, { readonly _tag: "Remote" }>,
  { dryRun }: { readonly dryRun: boolean }
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const apiKey = yield* keyFrom(key)
      if (Redacted.value(apiKey).trim() === "") {
        return yield* new MissingKey({ message: "The API key is empty." })
      }
      return RosterClient.layer({ baseUrl, apiKey, apiKeyHeader, apiKeyPrefix })
    })
  ).pipe(
    Layer.provide(dryRun ? Layer.provide(dryRunClient, transport) : transport),
    Layer.merge(Layer.succeed(Target, { name: baseUrl }))
  )
