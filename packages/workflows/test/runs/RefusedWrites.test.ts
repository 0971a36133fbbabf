/** What a run records of writes that the service refuses as a whole: nothing. */
import { assert, describe, it } from "@effect/vitest"
import { AccessDenied, ContactsService, type EmailAddress, ServiceError } from "@roster/domain"
import { Effect, Stream } from "effect"
import { changeAsRun, importContacts, planDelete, planUpdate, RunLog } from "../../src/index.ts"
import { makeFake } from "../changes/fakeContacts.ts"

const ada = "ada@example.com" as EmailAddress
const stored = { email: ada, firstName: "Ada", status: "Active" } as const

const denied = Effect.fail(
  new ServiceError({ operation: "contactsPost", reason: new AccessDenied({ required: "ModifyContacts" }) })
)

/** The services of a key that may view contacts and not change them, at a service that compares or not. */
const viewing = (compares: boolean) =>
  ContactsService.use((contacts) =>
    Effect.succeed({
      ...contacts,
      getMany: () => Effect.succeed({ contacts: [stored], isAtOnce: true }),
      add: () => denied,
      addWithoutAnswer: () => denied,
      update: () => denied,
      delete: () => denied,
      deleteMany: () => denied,
      change: (...[changes, options]: Parameters<typeof contacts.change>) =>
        options?.dryRun === true
          ? Effect.map(contacts.change(changes, options), (all) => all.map((one) => ({ ...one, exact: compares })))
          : denied
    })
  )

const writes: Readonly<Record<string, Effect.Effect<unknown, unknown, ContactsService | RunLog>>> = {
  import: importContacts(Stream.make({ email: ada, firstName: "X" }, { email: "new@example.com" })),
  "one change": changeAsRun({ email: ada, write: { lastName: "X" } }, { command: "update" }),
  "one deletion": changeAsRun({ email: ada, delete: true }, { command: "delete" }),
  "plan of an update": Effect.flatMap(planUpdate(Stream.make(stored), { lastName: "X" }), ({ apply }) => apply),
  "plan of a deletion": Effect.flatMap(planDelete(Stream.make(stored)), ({ apply }) => apply)
}

describe.each(Object.entries(writes))("A refused %s", (_, write) => {
  it.effect.each([true, false])("is of no contact in the record, which is whole; compared: %s", (compares) => {
    const fake = makeFake()
    fake.put(ada, { firstName: "Ada" })
    return Effect.gen(function* () {
      const done = Effect.provideService(write, ContactsService, yield* viewing(compares))
      const ended = yield* Effect.result(done)
      const error = ended._tag === "Failure" ? ended.failure : ended.success
      assert.include(JSON.stringify(error), "AccessDenied")
      for (const run of yield* (yield* RunLog).list) {
        assert.deepStrictEqual(run.counts, { created: 0, changed: 0, deleted: 0 })
      }
    }).pipe(Effect.provide([fake.layer, RunLog.layerMemory()]))
  })
})
