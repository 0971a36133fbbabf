import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import * as SqlServices from "../../src/services/SqlServices.ts"

describe("a write", () => {
  it.effect("that changes nothing writes no contact, and still puts it on a list", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const sql = yield* SqlClient.SqlClient
      const email = EmailAddress.make("ann@example.com")
      const payload = { email, status: "Active", firstName: "Ann", customFields: { city: "Paris" } } as const
      yield* contacts.add([payload])
      yield* sql`
        CREATE TRIGGER no_writes BEFORE UPDATE ON contacts
        BEGIN SELECT raise(ABORT, 'a contact was written'); END`
      yield* contacts.add([payload])
      yield* contacts.update(email, { firstName: "Ann" })
      yield* contacts.add([payload], { listNames: ["News"] })
      assert.deepStrictEqual((yield* contacts.get(email, { lists: true })).lists, ["News"])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(contacts.add([{ ...payload, firstName: "Anna" }]))))
    }).pipe(Effect.provide(SqlServices.layerWithStore({ filename: ":memory:" }), { local: true }))
  )
})
