/** What the page says of a key before anybody tries, by requests that change nothing. */
import { assert, describe, it } from "@effect/vitest"
import { AccessDenied, type AccessLevel, ContactsService, CredentialsService, ServiceError } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Context, Effect, Layer, Redacted } from "effect"
import { missing, probeManaging, probeModify, rightsWords, unseenWords } from "../../src/session/Rights.tsx"
import { session } from "../../src/session/Session.ts"
import { studioOn, studioStore } from "../StudioStore.ts"

const denied = (required: AccessLevel) => () =>
  Effect.fail(new ServiceError({ operation: "any", reason: new AccessDenied({ required }) }))

/** A store in memory, asked with a key that only reads. */
const readingOnly = Layer.effectContext(
  Effect.gen(function* () {
    const context = yield* Layer.build(Layer.fresh(layerMemory()))
    const contacts = Context.get(context, ContactsService)
    const credentials = Context.get(context, CredentialsService)
    return Context.merge(
      context,
      Context.mergeAll(
        Context.make(ContactsService, {
          ...contacts,
          change: denied("ModifyContacts"),
          exportStatus: denied("Export")
        }),
        Context.make(CredentialsService, {
          ...credentials,
          apiKeys: { ...credentials.apiKeys, delete: denied("ModifyAccessTokens") }
        })
      )
    )
  })
)

describe("what a key may do", () => {
  it.effect("is said in words, and each missing level with what it is needed for", () =>
    Effect.gen(function* () {
      const store = yield* studioOn(readingOnly)
      const words = yield* store.until(rightsWords, (words) => (/see.*change/.test(words) ? words : undefined))
      assert.strictEqual(
        words,
        "This key may see contacts and see keys, and may not change contacts or export contacts"
      )
      assert.isUndefined(store.registry.get(missing("ViewContacts")))
      assert.strictEqual(
        yield* store.until(missing("ModifyAccessTokens"), (reason) => reason),
        "This key lacks the level ModifyAccessTokens, so it may not make, change or delete keys."
      )
    })
  )

  it.effect(
    "is known of a key that changes contacts and does not see them, which the page says can do nothing here",
    () =>
      Effect.gen(function* () {
        const context = yield* Layer.build(readingOnly)
        const contacts = Context.get(context, ContactsService)
        const unseen = Context.add(context, ContactsService, {
          ...contacts,
          list: denied("ViewContacts"),
          change: denied("ViewContacts")
        })
        const store = yield* studioOn(Layer.succeedContext(unseen))
        assert.include(yield* store.until(unseenWords, (words) => words), "needs a key that may see contacts too")
        assert.match(
          store.registry.get(rightsWords),
          /^This key may change contacts and see keys, and may not see contacts/
        )
      })
  )

  it.effect("is everything on a store of this machine, which is not asked", () =>
    Effect.gen(function* () {
      const store = yield* studioOn(readingOnly)
      const host = { name: "[local] a.db", identity: "[local] /a.db", isStore: true, version: "1", flags: "" }
      store.registry.set(session, { baseUrl: "http://127.0.0.1:1/v4", key: Redacted.make("key"), host })
      assert.strictEqual(store.registry.get(rightsWords), "Local store, with full access")
      assert.isUndefined(store.registry.get(missing("ModifyAccessTokens")))
    })
  )

  it.effect("is asked without a change, and is not known of a service without dry runs", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      const contacts = yield* store.contacts
      assert.isTrue(yield* store.ask(probeModify))
      assert.isTrue(yield* store.ask(probeManaging))
      const change: typeof contacts.change = () => Effect.succeed([{ _tag: "AlreadySo", exact: false }])
      assert.isUndefined(yield* Effect.provideService(probeModify, ContactsService, { ...contacts, change }))
      assert.strictEqual((yield* contacts.count()).count, 0)
    })
  )
})
