import { assert, describe, it } from "@effect/vitest"
import { CredentialName, CredentialsService } from "@roster/domain"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as SqlCredentialsService from "../../src/services/SqlCredentialsService.ts"
import * as Store from "../../src/store/Store.ts"

const store = Store.layer({ filename: ":memory:" })

describe("an access level that a newer version has stored", () => {
  it.live("is reported, and goes with the next change of the levels", () =>
    Effect.gen(function* () {
      const { apiKeys } = yield* CredentialsService
      const sql = yield* SqlClient.SqlClient
      const name = CredentialName.make("later")
      yield* apiKeys.create({ name, accessLevels: ["ViewContacts"] })
      yield* sql`UPDATE credentials SET access_levels = '["ViewContacts","ViewMoon"]' WHERE name = 'later'`
      assert.deepStrictEqual(
        (yield* apiKeys.list()).map(({ accessLevels }) => accessLevels.map(String)),
        [["ViewContacts", "ViewMoon"]]
      )
      yield* apiKeys.update(name, { name, accessLevels: ["Export"] })
      assert.deepStrictEqual((yield* apiKeys.get(name)).accessLevels, ["Export"])
    }).pipe(Effect.provide(Layer.provideMerge(SqlCredentialsService.layer, store), { local: true }))
  )
})
