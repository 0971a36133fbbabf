/** What one client costs others, on PostgreSQL, with the least number of connections. */
import { Deferred, Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { boundsCases } from "../wire/Bounds.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => {
  boundsCases(
    "on PostgreSQL",
    Effect.map(freshDatabase, (url) => ({ postgres: { url, maxConnections: 8 } })),
    ({ postgres: { url } }) =>
      Effect.gen(function* () {
        const sql = yield* PostgresClient.make({ url, maxConnections: 1 })
        const isHeld = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const holder = sql`SELECT id FROM contacts WHERE identity = 'held@example.com' FOR UPDATE`.pipe(
          Effect.andThen(Deferred.succeed(isHeld, undefined)),
          Effect.andThen(Deferred.await(release))
        )
        yield* Effect.forkScoped(sql.withTransaction(holder))
        yield* Deferred.await(isHeld)
        return { unlock: Effect.asVoid(Deferred.succeed(release, undefined)) }
      }).pipe(Effect.provide(Reactivity.layer))
  )
})
