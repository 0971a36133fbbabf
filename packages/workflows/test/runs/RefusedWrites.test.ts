/** What a run records of writes that the service refuses as a whole: nothing. */
import { assert, describe, it } from "@effect/vitest"
import { AccessDenied, ContactFilter, ContactsService, type EmailAddress, ServiceError } from "@roster/domain"
import { Effect } from "effect"
import { recordedContacts, RunLog } from "../../src/index.ts"
import { makeFake } from "../changes/fakeContacts.ts"

const ada = "ada@example.com" as EmailAddress

const denied = Effect.fail(
  new ServiceError({ operation: "contactsPost", reason: new AccessDenied({ required: "ModifyContacts" }) })
)

/** The services of a key that may view contacts and not change them. */
const viewing = ContactsService.use((contacts) =>
  Effect.succeed({
    ...contacts,
    getMany: () =>
      Effect.succeed({ contacts: [{ email: ada, firstName: "Ada", status: "Active" } as const], isAtOnce: true }),
    add: () => denied,
    addWithoutAnswer: () => denied,
    update: () => denied,
    delete: () => denied,
    deleteMany: () => denied,
    change: () => denied
  })
)

describe("A write that is refused", () => {
  it.effect.each([
    ["add", (contacts: ContactsService["Service"]) => contacts.add([{ email: "new@example.com" }])],
    [
      "addWithoutAnswer",
      (contacts: ContactsService["Service"]) => contacts.addWithoutAnswer([{ email: ada, firstName: "X" }])
    ],
    ["update", (contacts: ContactsService["Service"]) => contacts.update(ada, { lastName: "X" })],
    ["delete", (contacts: ContactsService["Service"]) => contacts.delete(ada)],
    [
      "deleteMany",
      (contacts: ContactsService["Service"]) => contacts.deleteMany(ContactFilter.ByEmails({ emails: [ada] }))
    ]
  ] as const)("by %s is of no contact in the record, which is whole", ([, write]) => {
    const fake = makeFake()
    fake.put(ada, { firstName: "Ada" })
    return Effect.scoped(
      Effect.gen(function* () {
        const log = yield* RunLog
        const run = yield* log.open({ command: "sync" })
        const contacts = yield* Effect.provideService(recordedContacts({ run }), ContactsService, yield* viewing)
        const error = yield* Effect.flip<unknown, ServiceError | { readonly _tag: string }, never>(write(contacts))
        assert.include(error, { _tag: "ServiceError" })
        assert.deepStrictEqual(yield* run.counts, { created: 0, changed: 0, deleted: 0 })
        yield* run.end
      })
    ).pipe(Effect.provide([fake.layer, RunLog.layerMemory()]))
  })
})
