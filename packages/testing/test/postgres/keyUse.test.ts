/** The use of a key, which one request notes where many come together. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { askServe, killableServe, servePlace } from "../durability/KillableServe.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("the use of a key on PostgreSQL", () => {
  it.live("keeps one request waiting where its row is locked, and is noted by the next one", () =>
    Effect.gen(function* () {
      const database = yield* freshDatabase
      const serve = yield* killableServe(yield* servePlace, { database })
      const sql = yield* PostgresClient.make({ url: database, maxConnections: 1 })
      const list = askServe(serve, "GET", "/contacts")
      const together = yield* sql.withTransaction(
        Effect.andThen(
          sql`SELECT id FROM credentials FOR UPDATE`,
          Effect.replicateEffect(list, 12, { concurrency: "unbounded" })
        )
      )
      assert.isTrue(together.every(({ status }) => status === 200))
      assert.lengthOf(serve.output().match(/the use of a key could not be noted/g) ?? [], 1)
      const uses = sql`SELECT level FROM credential_uses`
      assert.deepStrictEqual(yield* uses, [])
      assert.strictEqual((yield* list).status, 200)
      assert.deepStrictEqual(yield* uses, [{ level: "ViewContacts" }])
      yield* serve.stop
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )
})
