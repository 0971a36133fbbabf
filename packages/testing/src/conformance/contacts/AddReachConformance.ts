/** Adds that reach only new or existing contacts, or give new ones a status, on every layer. (docs/decisions/upsert.md) */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { type AddOptions, type ContactPayload, ContactsService, ContactStatus } from "@roster/domain"
import { Effect, Stream } from "effect"
import { type Place, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"
import { unchecked } from "../cases/Unchecked.ts"

type Mode = Pick<AddOptions, "only" | "defaultStatus">

const modes: ReadonlyArray<Mode> = [undefined, "existing", "new"].flatMap((only) =>
  [undefined, "NotConfirmed"].map((defaultStatus) => ({ only, defaultStatus }) as Mode)
)

/** Somebody who left; new people; and one who is new and named twice, the second time with a status. */
const rowsOf = ({ email }: Place): ReadonlyArray<ContactPayload> => [
  { email: email("Gone"), firstName: "After" },
  { email: email("new"), firstName: "After" },
  { email: email("told"), firstName: "After", status: "Engaged" },
  { email: email("twice"), firstName: "First" },
  { email: email("TWICE"), firstName: "After", status: "Inactive" }
]

/** What the rows make of what was there, by docs/decisions/upsert.md; `undefined` for nobody. */
const expectedOf = ({ defaultStatus = "Active", only }: Mode): ReadonlyArray<string | undefined> => [
  only === "new" ? "gone Before Unsubscribed" : "gone After Unsubscribed",
  ...(only === "existing"
    ? [undefined, undefined, undefined, undefined]
    : [`new After ${defaultStatus}`, "told After Engaged", "twice After Inactive", "twice After Inactive"])
]

const shown = ({ email, firstName, status }: { email: string; firstName?: string; status?: string }) =>
  firstName === undefined ? undefined : `${email.split("@")[0]?.toLowerCase()} ${firstName} ${status}`

export const addReachConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: add of new or existing contacts", () => {
    it.effect("reaches whom it names, gives new ones the default status, and answers each contact in order", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        for (const mode of modes) {
          for (const isAnswered of [true, false]) {
            const own = place()
            const rows = rowsOf(own)
            const gone = own.email("gone")
            yield* contacts.add([{ email: gone, status: "Unsubscribed", firstName: "Before" }])
            const before = yield* contacts.get(gone)
            const said = JSON.stringify({ ...mode, isAnswered })
            const expected = expectedOf(mode)
            if (isAnswered) {
              const answered = yield* contacts.add(rows, mode)
              assert.deepStrictEqual(answered.map(shown), expected, said)
              assert.deepStrictEqual(
                answered.map(({ email }) => email.toLowerCase()),
                rows.map(({ email }) => email.toLowerCase()),
                said
              )
            } else yield* contacts.addWithoutAnswer(new Set(rows), mode)
            const found = yield* Stream.runCollect(contacts.stream({ rule: own.rule }))
            const there = new Set(expected.filter((one) => one !== undefined))
            assert.deepStrictEqual(new Set(found.map(shown)), there, said)
            if (mode.only === "new") assert.deepStrictEqual(yield* contacts.get(gone), before, said)
          }
        }
      })
    )

    it.effect("tells which contacts kept their status by their places in the add", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        yield* contacts.add([{ email: email("gone"), status: "Unsubscribed" }, { email: email("here") }])
        const rows = ["absent", "gone", "here"].map((name) => ({ email: email(name), status: "Engaged" }) as const)
        const options = { only: "existing", resubscribe: false } as const
        assert.deepStrictEqual(yield* contacts.addWithoutAnswer(rows, options), {
          keptStatuses: [{ index: 1, status: "Unsubscribed" }]
        })
        yield* refused(contacts.get(email("absent")), "ContactNotFound")
      })
    )

    it.effect("answers contacts that are many bytes together, with those that it leaves out", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const rows = Array.from({ length: 80 }, (_, index) => {
          return { email: email(`long${index}`), customFields: { note: "x".repeat(20_000) } }
        })
        yield* contacts.add(rows.slice(0, 70))
        const answered = yield* contacts.add(rows, { only: "existing" })
        assert.deepStrictEqual<unknown>(
          answered.map(({ customFields = {}, email }) => ({ email, customFields })),
          rows.map(({ customFields, email }, index) => ({ email, customFields: index < 70 ? customFields : {} }))
        )
      })
    )

    it.effect("refuses an invalid contact that it would leave out, and changes nothing", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([{ email: email("here"), firstName: "Before" }])
        const rows = unchecked<ReadonlyArray<ContactPayload>>([
          { email: email("here"), firstName: "After" },
          { email: "nobody", firstName: "After" }
        ])
        yield* refused(contacts.add(rows, { only: "existing" }), "InvalidInput")
        assert.deepStrictEqual((yield* contacts.list({ rule })).map(shown), ["here Before Active"])
      })
    )

    it.effect("refuses another mode before it writes, in words that name the values there are", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const rows = [{ email: email("new") }]
        const wrong: ReadonlyArray<readonly [options: unknown, value: string]> = [
          [{ only: "exsting" }, "existing or new"],
          [{ defaultStatus: "Confirmed" }, ContactStatus.literals.join(", ")],
          [{ resubscribe: "yes" }, "true, false"],
          [{ resubscribe: ["Active"] }, "Abuse, Unsubscribed, Bounced, NotConfirmed"]
        ]
        for (const [options, words] of wrong) {
          const error = yield* refused(contacts.add(rows, unchecked<AddOptions>(options)), "InvalidInput")
          assert.include(error.message, words)
          yield* refused(contacts.addWithoutAnswer(rows, unchecked<AddOptions>(options)), "InvalidInput")
        }
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
      })
    )
  })

  it.describe("contacts: a keyed add of new or existing contacts", () => {
    it.effect("a key belongs to one mode", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const idempotencyKey = crypto.randomUUID()
        yield* contacts.add([{ email: email("one") }], { only: "new", idempotencyKey })
        yield* contacts.add([{ email: email("one") }], { only: "new", idempotencyKey })
        yield* refused(
          contacts.add([{ email: email("one") }], { only: "new", defaultStatus: "Inactive", idempotencyKey }),
          "IdempotencyKeyReused"
        )
      })
    )
  })
}
