/** What every layer promises of `addWithoutAnswer`: the same as of `add`, but for the answer. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactsService, EmailAddress, readContacts } from "@roster/domain"
import { Effect, Result, Stream } from "effect"
import { place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

/** The contacts of the rows of a file. */
const contactsOf = (file: string) =>
  Effect.map(Stream.runCollect(readContacts(Stream.make(new TextEncoder().encode(file)))), (rows) =>
    rows.map(({ contact }) => Result.getOrThrow(contact))
  )

export const addWithoutAnswerConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: addWithoutAnswer", () => {
    it.effect("adds the rows of a file as they were read", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, rule } = place()
        const some = yield* contactsOf(
          [
            "Email,FirstName,city,Status",
            `plain@${domain},Zoë,São Paulo,`,
            `quoted@${domain},"A ""B"", \\",x,`,
            `known@${domain},,,Engaged`,
            `none@${domain},,,`
          ].join("\n")
        )
        yield* contacts.addWithoutAnswer(some)
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map(({ customFields, email, firstName, status }) => [
            email,
            firstName ?? "",
            customFields?.["city"] ?? "",
            status
          ]),
          [
            [`plain@${domain}`, "Zoë", "São Paulo", "Active"],
            [`quoted@${domain}`, 'A "B", \\', "x", "Active"],
            [`known@${domain}`, "", "", "Engaged"],
            [`none@${domain}`, "", "", "Active"]
          ]
        )
      })
    )

    it.effect("merges into what exists, puts on lists, and takes contacts of any kind", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        yield* contacts.add([{ email: email("b"), firstName: "Old", lastName: "Name" }])
        const some = yield* contactsOf(`Email,FirstName\nB@${domain},New\nc@${domain},C\n`)
        yield* contacts.addWithoutAnswer(some, { listNames: [`${domain} list`, "a list, & more"] })
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => [contact.email, contact.firstName, contact.lastName ?? ""]),
          [
            [email("b"), "New", "Name"],
            [email("c"), "C", ""]
          ]
        )
        yield* contacts.addWithoutAnswer(new Set([{ email: email("a"), customFields: { "1": "x" } }]))
        assert.deepStrictEqual((yield* contacts.get(email("a"))).customFields, { "1": "x" })
      })
    )

    it.effect("refuses more than one add may carry, and all contacts for one", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const many = Array.from({ length: 1001 }, (_, i) => ({ email: email(`m${i}`) }))
        const error = yield* refused(contacts.addWithoutAnswer(many), "TooManyContacts")
        assert.deepStrictEqual([error.count, error.maximum], [1001, 1000])
        const bad = [{ email: email("good") }, { email: EmailAddress.make("nul@example.com"), firstName: "a\0b" }]
        yield* refused(contacts.addWithoutAnswer(bad), "InvalidInput")
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
        yield* contacts.addWithoutAnswer([])
      })
    )
  })
}
