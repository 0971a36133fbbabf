import { assert, describe, it } from "@effect/vitest"
import { type ContactPayload, ContactsService, EmailAddress, layerTestContacts } from "@roster/domain"
import { Effect } from "effect"
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
