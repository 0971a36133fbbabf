import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { Config, Effect, LayerMap } from "effect"

/** The account of each tenant: one address, and a key such as TENANT_ACME_KEY. */
export class Tenants extends LayerMap.Service<Tenants>()("app/Tenants", {
  lookup: (tenant: string) =>
    RosterClient.layerConfig({
      baseUrl: Config.String("ROSTER_BASE_URL"),
      apiKey: Config.Redacted(`TENANT_${tenant.toUpperCase()}_KEY`)
    }),
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
