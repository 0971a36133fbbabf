/**
 * The operations of our own at services that do not have them: one that has no such path, one whose path takes no such
 * method, and one that answers 200 to anything. The client reads and writes in other ways, and says that changes are not
 * exact.
 */
import { assert, describe, it } from "@effect/vitest"
import { type ContactsPage, ContactsService } from "@roster/domain"
import { conformance } from "@roster/testing/conformance"
import { testConformance } from "@roster/testing/vitest"
import { Effect } from "effect"
import { foreign, noSuchPath } from "./ForeignService.ts"

const services: ReadonlyArray<readonly [what: string, answer: () => Response]> = [
  ["has no such path", noSuchPath],
  [
    "does not take the method there",
    () => new Response('{"Error":"no"}', { status: 405, headers: { allow: "PATCH" } })
  ],
  ["answers 200 to anything", () => new Response("[]", { headers: { "content-type": "application/json" } })]
]

const areas = new Set([
  "contacts: change",
  "contacts: count",
  "contacts: fields",
  "contacts: getMany",
  "contacts: add of new or existing contacts"
])
const ofOursAlone = "tells of how many contacts a value cannot be compared, unless the rest of the rule decides"
const cases = conformance.contacts().filter(({ area, name }) => areas.has(area) && name !== ofOursAlone)

for (const [what, answer] of services) testConformance(`a service that ${what}`, cases, foreign(answer))

describe("changes at another service", () => {
  it.effect.each(services)("are not exact, and are asked for by the operation once: it %s", ([, answer]) => {
    const asked: Array<string> = []
    return Effect.gen(function* () {
      const contacts = yield* ContactsService
      const changes = [{ email: "a@example.com", seen: null, write: { firstName: "A" } }] as const
      assert.deepStrictEqual(yield* contacts.change(changes), [{ _tag: "Done", exact: false }])
      assert.deepStrictEqual(yield* contacts.change(changes, { dryRun: true }), [{ _tag: "AlreadySo", exact: false }])
      assert.deepStrictEqual(yield* contacts.change(changes), [{ _tag: "AlreadySo", exact: false }])
      // The first add that succeeds says that the service does not have it.
      assert.deepStrictEqual(
        asked.filter((line) => line.endsWith("/changes")),
        ["POST /v4/contacts/changes"]
      )
    }).pipe(Effect.provide(foreign(answer, asked)))
  })
})

describe("another order at another service", () => {
  it.effect.each(services)("is refused, by the name of what it does not know: it %s", ([, answer]) =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* contacts.add([{ email: "b@example.com" }, { email: "a@example.com" }])
      const pages: ReadonlyArray<ContactsPage> = [{ sort: "email" }, { sort: "-added" }, { after: "b@example.com" }]
      const refusals = yield* Effect.forEach(pages, (page) => Effect.flip(contacts.list({ ...page, limit: 0 })))
      assert.deepStrictEqual(
        refusals.map((error) => error._tag === "InvalidInput" && error.field),
        ["sort", "sort", "after"]
      )
      const listed = yield* contacts.list({ sort: "added" })
      assert.deepStrictEqual(
        listed.map(({ email }) => email),
        ["b@example.com", "a@example.com"]
      )
    }).pipe(Effect.provide(foreign(answer)))
  )
})
