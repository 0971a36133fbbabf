import { assert, it } from "@effect/vitest"
import { ContactNotFound, ContactsService, layerTestContacts } from "@roster/domain"
import { Effect } from "effect"

/** The program under test. */
const isCustomer = (email: string) =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    yield* contacts.get(email)
    return true
  }).pipe(Effect.catchTag("ContactNotFound", () => Effect.succeed(false)))

it.effect("knows no customer whom the service does not know", () =>
  Effect.gen(function* () {
    assert.isFalse(yield* isCustomer("ann@example.com"))
  }).pipe(Effect.provide(layerTestContacts({ get: (email) => Effect.fail(new ContactNotFound({ email })) })))
)
