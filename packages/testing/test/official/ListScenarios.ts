/**
 * The operations on lists, as an official client drives them.
 */
import { assert, expect, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { as, asking, ErrorBody, isEmpty, Official } from "./Official.ts"

/** A name with what URLs escape. */
const name = "Kunden & Freunde/ä+1"
const renamed = "Kunden"

export const listScenarios = (it: Vitest.MethodsNonLive<Official>): void => {
  it.effect("creates, loads, renames, fills and deletes lists", () =>
    Effect.gen(function* () {
      const { client } = yield* Official
      const emails = ["l1@lists.example", "l2@lists.example", "l3@lists.example"]
      yield* asking(
        (client) => client.contactsPost(emails.map((Email) => ({ Email, FirstName: Email.slice(0, 2) }))),
        200
      )
      const list = {
        ListName: name,
        PublicListID: expect.stringMatching(/^[0-9a-f-]{36}$/),
        DateAdded: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.000)?Z$/),
        AllowUnsubscribe: false
      }
      const made = yield* asking(
        (client) => client.listsPost({ ListName: name, AllowUnsubscribe: false, Emails: [emails[0]] }),
        201
      )
      expect(made.data).toEqual(list)
      yield* asking((client) => client.listsPost({ ListName: name }), 409)
      expect((yield* asking((client) => client.listsByNameGet(name), 200)).data).toEqual(list)
      expect((yield* asking((client) => client.listsGet(1000, 0), 200)).data).toContainEqual(list)
      expect((yield* asking((client) => client.listsGet(), 200)).data).toContainEqual(list)
      const changed = yield* asking(
        (client) => client.listsByNamePut(name, { NewListName: renamed, AllowUnsubscribe: true }),
        200
      )
      const after = { ...list, ListName: renamed, AllowUnsubscribe: true }
      expect(changed.data).toEqual(after)
      const added = yield* asking((client) => client.listsByNameContactsPost(renamed, { Emails: emails.slice(1) }), 200)
      expect(added.data).toEqual(after)
      const removed = yield* asking(
        (client) => client.listsByNameContactsRemovePost(renamed, { Rule: "firstname = 'l2'" }),
        200
      )
      assert.isTrue(isEmpty(removed.data))
      yield* asking((client) => client.listsByNameContactsPost(renamed, { Rule: "All", Emails: emails }), 400)
      if (client.listsByListnameContactsGet !== undefined) {
        const { listsByListnameContactsGet } = client
        const on = (limit?: number, offset?: number) =>
          Effect.promise(() => listsByListnameContactsGet(renamed, limit, offset))
        expect((yield* on()).data).toMatchObject([{ Email: emails[0] }, { Email: emails[2] }])
        expect((yield* on(1, 1)).data).toMatchObject([{ Email: emails[2] }])
      }
      const missing = yield* asking((client) => client.listsByNameGet(name), 404)
      assert.deepStrictEqual(Object.keys(yield* as(ErrorBody, missing)), ["Error"])
      assert.isTrue(isEmpty((yield* asking((client) => client.listsByNameDelete(renamed), 200)).data))
      yield* asking((client) => client.listsByNameDelete(renamed), 404)
      yield* asking((client) => client.listsByNameContactsPost(renamed, { Emails: emails }), 404)
      yield* asking((client) => client.contactsDeletePost({ Emails: emails }), 200)
    })
  )
}
