import { assert, describe, it } from "@effect/vitest"
import {
  ContactFilter,
  type ContactPayload,
  ContactsService,
  EmailAddress,
  layerTestContacts,
  rawRule,
  StoreFailure
} from "@roster/domain"
import { Effect, Layer } from "effect"
import { type ContactLookup, makeRecorder, recordedContacts, type RunEntry } from "../../src/index.ts"

const ann = EmailAddress.make("ann@example.com")

/** No contact is stored. */
const lookup: ContactLookup = {
  find: (emails) => Effect.succeed(emails.map(() => undefined)),
  hasLists: false
}

function* once(): Generator<ContactPayload> {
  yield { email: ann }
}

describe("recordedContacts", () => {
  it.effect("adds what it records, of contacts that can be read once alone too", () => {
    const added: Array<string> = []
    return Effect.gen(function* () {
      for (const options of [{}, { idempotencyKey: "one" }]) {
        const record: Array<RunEntry> = []
        const recorder = makeRecorder({ append: (entry) => Effect.sync(() => void record.push(entry)) })
        const service = yield* recordedContacts(yield* ContactsService, { recorder, lookup })
        yield* service.addWithoutAnswer(once(), options)
        assert.deepStrictEqual(
          record.map((entry) => entry._tag === "Changes" && entry.created?.map(([email]) => email)),
          [[ann]]
        )
        assert.deepStrictEqual(added.splice(0), [ann])
      }
    }).pipe(
      Effect.provide(
        layerTestContacts({
          addWithoutAnswer: (contacts) =>
            Effect.sync(() => {
              for (const { email } of contacts) added.push(email)
              return { keptStatuses: [] }
            })
        })
      )
    )
  })
})

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
