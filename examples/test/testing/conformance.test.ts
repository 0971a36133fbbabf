import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { Cache, Effect, Layer } from "effect"

/** The layer under test: it remembers each contact that was read for a second, and forgets all when it writes. */
const layerRemembering = Layer.effect(
  ContactsService,
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    const remembered = yield* Cache.make({ lookup: contacts.get, capacity: 1000, timeToLive: "1 second" })
    const forgetting = <A, E>(write: Effect.Effect<A, E>) => Effect.ensuring(write, Cache.invalidateAll(remembered))
    return ContactsService.of({
      ...contacts,
      get: (email) => Cache.get(remembered, email),
      add: (...given) => forgetting(contacts.add(...given)),
      addWithoutAnswer: (...given) => forgetting(contacts.addWithoutAnswer(...given)),
      change: (...given) => forgetting(contacts.change(...given)),
      update: (...given) => forgetting(contacts.update(...given)),
      delete: (...given) => forgetting(contacts.delete(...given)),
      deleteMany: (...given) => forgetting(contacts.deleteMany(...given)),
      import: (...given) => forgetting(contacts.import(...given))
    })
  })
)

testConformance(
  "a layer that remembers contacts",
  conformance.contacts(),
  layerRemembering.pipe(Layer.provide(layerMemory()))
)
