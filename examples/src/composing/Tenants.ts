import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Config, Effect, Layer, LayerMap } from "effect"

/** One for all tenants. Within the lookup, so that no other `HttpClient` of a caller gets a tenant's key. */
const transport = UndiciHttpClient.layer()

/** The account of each tenant: one address, and a key such as TENANT_ACME_KEY. */
export class Tenants extends LayerMap.Service<Tenants>()("app/Tenants", {
  lookup: (tenant: string) =>
    RosterClient.layerConfig({
      baseUrl: Config.String("ROSTER_BASE_URL"),
      apiKey: Config.Redacted(`TENANT_${tenant.toUpperCase()}_KEY`)
    }).pipe(Layer.provide(transport)),
  // A tenant that nobody asks for is forgotten.
  idleTimeToLive: "10 minutes"
}) {}

/** Knows nothing of tenants. */
const recent = Effect.gen(function* () {
  const contacts = yield* ContactsService
  return (yield* contacts.list({ limit: 10 })).map(({ email }) => email)
})

/** The same for one tenant. */
export const recentOf = (tenant: string) => recent.pipe(Effect.provide(Tenants.get(tenant)))
