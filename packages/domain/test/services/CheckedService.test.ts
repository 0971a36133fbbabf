import { assert, describe, it } from "@effect/vitest"
import * as domain from "@roster/domain"
import { checkFilter } from "@roster/domain/internal"
import { ContactFilter, ContactsService, InvalidInput, layerTestContacts, type ContactsPage } from "@roster/domain"
import { Context, Effect, Predicate, Stream } from "effect"

/** As plain JavaScript gives it. */
const page = (given: object): ContactsPage => given

describe("a service of the domain", () => {
  it("is a CheckedService, whatever it is for", () => {
    const tags = Object.entries(domain).filter(
      ([, value]) => Context.isKey(value) && !Predicate.hasProperty(value, "defaultValue")
    )
    const unchecked = tags.flatMap(([name, tag]) => (Predicate.hasProperty(tag, "inputs") ? [] : [name]))
    assert.deepStrictEqual([unchecked, tags.length > 3], [[], true])
  })

  it.effect("calls no method with an object that has another field", () =>
    Effect.gen(function* () {
      const given: Array<unknown> = []
      const layer = layerTestContacts({
        list: (asked) => {
          given.push(asked)
          return Effect.succeed([])
        },
        stream: (asked) => {
          given.push(asked)
          return Stream.empty
        }
      })
      const contacts = yield* Effect.provide(ContactsService, layer)
      assert.deepStrictEqual(yield* contacts.list({ limit: 1, rule: undefined }), [])
      const refusals = [
        yield* Effect.flip(contacts.list(page({ limt: 1 }))),
        yield* Effect.flip(Stream.runDrain(contacts.stream(page({ limit: 1 }))))
      ]
      assert.deepStrictEqual(refusals, [
        new InvalidInput({ field: "limt", issue: 'a page has no field "limt"; did you mean "limit"?' }),
        new InvalidInput({ field: "limit", issue: 'a stream has no field "limit"' })
      ])
      assert.deepStrictEqual(given, [{ limit: 1, rule: undefined }])
    })
  )

  it.effect("takes no filter that a variable of a wider type gives both", () =>
    Effect.gen(function* () {
      const selection = { rule: "All" as const, emails: ["a@example.com"] }
      const contacts = yield* Effect.provide(
        ContactsService,
        layerTestContacts({ deleteMany: (filter) => checkFilter(filter) })
      )
      const refused = yield* Effect.flip(contacts.deleteMany(ContactFilter.ByRule(selection)))
      assert.strictEqual(refused._tag, "ConflictingFilter")
    })
  )
})
