import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Predicate, Stream } from "effect"
import {
  Contact,
  ContactsService,
  CredentialsService,
  EmailAddress,
  EmailsService,
  layerTestContacts,
  layerTestCredentials,
  layerTestEmails
} from "../../src/index.ts"

const email = EmailAddress.make("ann@example.com")
const none = Layer.mergeAll(layerTestContacts({}), layerTestCredentials({}), layerTestEmails({}))

/** The methods of the services by name, each called with nothing. */
const methods = Effect.gen(function* () {
  const [contacts, credentials, emails] = [yield* ContactsService, yield* CredentialsService, yield* EmailsService]
  return Object.entries({
    ContactsService: contacts,
    "CredentialsService.apiKeys": credentials.apiKeys,
    "CredentialsService.smtp": credentials.smtp,
    EmailsService: emails
  }).flatMap(([service, of]) =>
    Object.entries<unknown>({ ...of }).flatMap(([name, method]) =>
      Predicate.isFunction(method) ? [[`${service}.${name}`, method()] as const] : []
    )
  )
}).pipe(Effect.provide(none))

describe("layerTest", () => {
  it.effect("uses the methods that are given", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      assert.strictEqual((yield* contacts.get(email)).email, email)
      const { apiKeys } = yield* CredentialsService
      assert.deepStrictEqual(yield* apiKeys.list(), [])
    }).pipe(
      Effect.provide([
        layerTestContacts({ get: (address) => Effect.succeed(Contact.make({ email: EmailAddress.make(address) })) }),
        layerTestCredentials({ apiKeys: { list: () => Effect.succeed([]) } })
      ])
    )
  )

  it.effect("dies with the name of a method that is not given, and only when it runs", () =>
    Effect.gen(function* () {
      const all = yield* methods
      assert.isAtLeast(all.length, 24)
      for (const [name, called] of all) {
        const run = Stream.isStream(called) ? Stream.runDrain(called) : called
        if (!Effect.isEffect(run)) return assert.fail(`${name} gives no effect`)
        // What is called with nothing needs nothing.
        const exit = yield* Effect.exit(run as Effect.Effect<unknown, unknown>)
        if (Exit.isSuccess(exit)) return assert.fail(`${name} succeeded`)
        assert.isTrue(Cause.hasDies(exit.cause))
        assert.include(Cause.pretty(exit.cause), `${name} is not given to layerTest`)
      }
    })
  )
})
