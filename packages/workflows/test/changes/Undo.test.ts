import { assert, describe, it } from "@effect/vitest"
import { EmailAddress, LocalContacts, type StoredContact } from "@roster/domain"
import { Effect, Stream } from "effect"
import { type ContactLookup, previewUndo, RunEntry } from "../../src/index.ts"

const ann = EmailAddress.make("ann@example.com")
const unused = () => Effect.die("not a part of a preview")

/** A store that holds these contacts. */
const storeOf = (...stored: ReadonlyArray<StoredContact>): LocalContacts => ({
  read: (emails) => Effect.succeed(emails.map((email) => stored.find(({ contact }) => contact.email === email))),
  add: unused,
  write: unused,
  atomically: (effect) => effect
})

const lookup: ContactLookup = { find: unused, hasLists: true }

describe("previewUndo", () => {
  // A store records the dates and the activity with every change.
  const changed = RunEntry.make({
    _tag: "Changes",
    changed: [
      {
        email: ann,
        fields: {
          FirstName: ["Ann", "Anna"],
          DateUpdated: ["2026-01-01T00:00:00", "2026-02-01T00:00:00"],
          "Activity.TotalSent": [1, 2]
        },
        after: "a digest",
        id: 1
      }
    ]
  })

  it.effect("names the fields that stay without those that only a service sets", () =>
    Effect.gen(function* () {
      for (const store of [storeOf(), storeOf({ id: 2, contact: { email: ann }, lists: [] })]) {
        const report = yield* previewUndo(Stream.make(changed), lookup).pipe(
          Effect.provideService(LocalContacts, store)
        )
        assert.deepStrictEqual(report.changedSinceSample, [{ email: ann, fields: ["FirstName"] }])
      }
    })
  )
})
