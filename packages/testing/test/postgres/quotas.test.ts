/** What one account may keep, on PostgreSQL. */
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { servedOn } from "../../src/layers/ServiceLayers.ts"
import { quotaCases } from "../jobs/Quotas.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => {
  const filled = Effect.gen(function* () {
    const url = yield* freshDatabase
    const sql = yield* PostgresClient.make({ url, maxConnections: 1 })
    return {
      services: servedOn({ postgres: { url } }),
      change: (statements: string) => Effect.asVoid(sql.unsafe(statements)),
      look: (query: string) => Effect.map(sql.unsafe<Readonly<Record<string, unknown>>>(query), ([row]) => row)
    }
  })
  quotaCases("HTTP client, server, SQL on PostgreSQL, over a socket", Effect.provide(filled, Reactivity.layer), false)
})
