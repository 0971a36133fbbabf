/**
 * What every layer promises of a batch: what it promises of the same contacts one add brings, but for the answer.
 */
import { assert, describe, type Vitest } from "@effect/vitest"
import {
  type ImportRow,
  ContactsService,
  contactBatch,
  EmailAddress,
  makeBatchWriter,
  readContacts
} from "@roster/domain"
import { Effect, Stream } from "effect"
import { place } from "../Place.ts"
import { refused } from "../Refused.ts"

/** The batch of the rows of a file. */
const batchOf = (file: string) =>
  Effect.map(Stream.runCollect(readContacts(Stream.make(new TextEncoder().encode(file)))), (rows) => {
    const writer = makeBatchWriter(rows.length)
    rows.forEach((row: ImportRow) => writer.add(row))
    return writer.take()
  })

export const contactBatchConformance = (it: Vitest.MethodsNonLive<ContactsService>): void => {
  describe("contacts: addBatch", () => {
    it.effect("adds the rows of a file as they were read, whichever way they took", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, rule } = place()
        const batch = yield* batchOf(
          [
            "Email,FirstName,city,Status",
            `plain@${domain},Zoë,São Paulo,`,
            `quoted@${domain},"A ""B"", \\",x,`,
            `known@${domain},,,Engaged`,
            `none@${domain},,,`
          ].join("\n")
        )
        yield* contacts.addBatch(batch)
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

    it.effect("merges into what exists, puts on lists, and takes any part of a batch", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        yield* contacts.add([{ email: email("b"), firstName: "Old", lastName: "Name" }])
        const batch = yield* batchOf(`Email,FirstName\na@${domain},A\nB@${domain},New\nc@${domain},C\n`)
        yield* contacts.addBatch(batch.slice(1, 3), { listNames: [`${domain} list`, "a list, & more"] })
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => [contact.email, contact.firstName, contact.lastName ?? ""]),
          [
            [email("b"), "New", "Name"],
            [email("c"), "C", ""]
          ]
        )
        yield* contacts.addBatch(contactBatch([{ email: email("a"), customFields: { "1": "x" } }]))
        assert.deepStrictEqual((yield* contacts.get(email("a"))).customFields, { "1": "x" })
      })
    )

    it.effect("refuses more than one add may carry, and a whole batch for one contact", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const many = contactBatch(Array.from({ length: 1001 }, (_, i) => ({ email: email(`m${i}`) })))
        const error = yield* refused(contacts.addBatch(many), "TooManyContacts")
        assert.deepStrictEqual([error.count, error.maximum], [1001, 1000])
        const bad = contactBatch([
          { email: email("good") },
          { email: EmailAddress.make("nul@example.com"), firstName: "a\0b" }
        ])
        yield* refused(contacts.addBatch(bad), "InvalidInput")
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
        yield* contacts.addBatch(contactBatch([]))
      })
    )
  })
}
