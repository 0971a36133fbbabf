import { assert, describe, it } from "@effect/vitest"
import { ContactFilter, ContactsService, EmailAddress, rawRule, StoreFailure } from "@roster/domain"
import { makeRecorder, recordedContacts } from "@roster/workflows"
import { Effect, Layer } from "effect"

describe("a change that cannot be recorded", () => {
  it.effect("is not sent, and fails as the operation that it is", () =>
    Effect.gen(function* () {
      const recorder = makeRecorder({ append: () => Effect.fail(new StoreFailure({ detail: "the disk is full" })) })
      const known = { email: "ann@example.com", status: "Active", firstName: "Ann" } as const
      const lookup = {
        find: (emails: ReadonlyArray<string>) => Effect.succeed(emails.map(() => known)),
        hasLists: false
      }
      const contacts = yield* recordedContacts(yield* ContactsService, { recorder, lookup })
      const email = EmailAddress.make("ann@example.com")
      const byRule = ContactFilter.ByRule({ rule: yield* Effect.fromResult(rawRule("a = b")) })
      for (const [operation, change] of [
        ["contactsPost", contacts.add([{ email, firstName: "A" }])],
        ["contactsByEmailPut", contacts.update(email, { firstName: "A" })],
        ["contactsByEmailDelete", contacts.delete(email)],
        ["contactsDeletePost", contacts.deleteMany(ContactFilter.ByEmails({ emails: [email] }))],
        ["contactsDeletePost", contacts.deleteMany(byRule)]
      ] as const) {
        const failed = yield* Effect.flip<unknown, unknown, never>(change)
        assert.deepInclude(failed, { _tag: "ServiceError", operation })
      }
    }).pipe(Effect.provide(Layer.mock(ContactsService, {})))
  )
})
