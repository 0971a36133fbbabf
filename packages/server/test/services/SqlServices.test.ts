import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, CredentialName, CredentialsService, EmailAddress, RuleText } from "@roster/domain"
import { Context, Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseSync } from "node:sqlite"
import { Caller } from "../../src/credentials/Caller.ts"
import * as SqlServices from "../../src/services/SqlServices.ts"

class First extends Context.Service<First, ContactsService["Service"]>()("First") {}
class Second extends Context.Service<Second, ContactsService["Service"]>()("Second") {}

describe("the services", () => {
  it.effect("of two stores in one application are of two stores", () =>
    Effect.gen(function* () {
      const first = yield* First
      const second = yield* Second
      yield* first.add([{ email: EmailAddress.make("ann@example.com") }])
      assert.deepStrictEqual([(yield* first.list()).length, (yield* second.list()).length], [1, 0])
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          Layer.provide(Layer.effect(First, ContactsService), SqlServices.layerMemory()),
          Layer.provide(Layer.effect(Second, ContactsService), SqlServices.layerMemory())
        )
      )
    )
  )

  it.live("can read while another process writes, from the opening of the store to its end", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const filename = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "roster.db")
      const withStore = <A, E>(work: (contacts: ContactsService["Service"]) => Effect.Effect<A, E>) =>
        Effect.scoped(
          Effect.flatMap(Layer.build(SqlServices.layer({ filename })), (services) =>
            work(Context.get(services, ContactsService))
          )
        )
      yield* withStore((contacts) => contacts.add([{ email: EmailAddress.make("ann@example.com") }]))
      using writer = new DatabaseSync(filename)
      writer.exec("BEGIN IMMEDIATE")
      // Whoever waits for a lock fails after 5 seconds.
      const read = yield* withStore((contacts) => contacts.list())
      assert.deepStrictEqual(
        read.map(({ email }) => email),
        ["ann@example.com"]
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("leave the main account changes of credentials, however many its subaccounts make", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO audit_entries (time, account, actor, actor_name, actor_hint, operation, outcome, details)
        SELECT 0, 'sub' || i % 10 || '@example.com', 'Owner', '', '', 'securityApikeysPost', 'Done', '{}' FROM n`
      const { apiKeys } = yield* CredentialsService
      const rotated = apiKeys.create({ name: CredentialName.make("rotated"), accessLevels: [] })
      const ofSubaccount = Effect.provideService(rotated, Caller, { account: "other@example.com" })
      const refused = yield* Effect.flip(ofSubaccount)
      assert.include(refused.message, "all accounts were changed 10000 times")
      yield* rotated
    }).pipe(Effect.provide(SqlServices.layerWithStore({ filename: ":memory:" })))
  )

  it.effect("give custom fields by the names that they have", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const email = EmailAddress.make("ann@example.com")
      // JSON.parse takes the second for the first.
      for (const name of ["5\\", '5"']) {
        const customFields = { x: "1", [name]: "2" }
        yield* contacts.add([{ email, customFields }])
        const found = yield* contacts.list({ rule: RuleText.make(`x = '1'`) })
        assert.deepStrictEqual(
          found.map((contact) => contact.customFields),
          [customFields]
        )
        yield* contacts.delete(email)
      }
    }).pipe(Effect.provide(SqlServices.layerMemory()))
  )
})
