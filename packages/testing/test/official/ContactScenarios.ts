/**
 * The operations on contacts, as an official client drives them.
 */
import { assert, expect, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { csvRecordsOf, jsonRecordsOf, textOf, xmlOf, zipOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { as, asking, ErrorBody, ExportLink, instant, isEmpty, Official, Token } from "./Official.ts"
import type { OfficialClient } from "./OfficialClient.ts"

export const contactScenarios = (it: Vitest.MethodsNonLive<Official>): void => {
  it.effect("adds, loads, lists, updates and deletes contacts", () =>
    Effect.gen(function* () {
      const [plus, slash] = ["a+b@example.com", "o'c/d?e=f&g%2fh@example.com"]
      const added = yield* asking(
        (client) =>
          client.contactsPost(
            [
              {
                Email: plus,
                Status: "Engaged",
                FirstName: "Ańn 😀",
                CustomFields: { city: "Łódź", age: "34" },
                Consent: { ConsentIP: "192.0.2.1", ConsentDate: "2021-01-01T12:00:00.123Z", ConsentTracking: "Allow" }
              },
              { Email: slash, Consent: { ConsentDate: null } }
            ],
            ["News, weekly", "Another list"]
          ),
        200
      )
      const contact = {
        Email: plus,
        Status: "Engaged",
        FirstName: "Ańn 😀",
        CustomFields: { city: "Łódź", age: "34" },
        Consent: { ConsentIP: "192.0.2.1", ConsentDate: instant("2021-01-01T12:00:00"), ConsentTracking: "Allow" },
        Source: "ContactApi"
      }
      expect(added.data).toMatchObject([contact, { Email: slash, Status: "Active" }])
      for (const email of [plus, slash]) {
        expect((yield* asking((client) => client.contactsByEmailGet(email), 200)).data).toMatchObject({
          Email: email
        })
      }
      expect((yield* asking((client) => client.contactsGet(), 200)).data).toMatchObject([contact, { Email: slash }])
      expect((yield* asking((client) => client.contactsGet(1, 1), 200)).data).toMatchObject([{ Email: slash }])
      expect((yield* asking((client) => client.contactsGet(1000), 200)).data).toMatchObject([contact, { Email: slash }])
      // Fewer than were asked for would be lost without a word.
      yield* asking((client) => client.contactsGet(1001), 400)
      const updated = yield* asking(
        (client) => client.contactsByEmailPut(slash, { LastName: "O'Neil", CustomFields: { x: "1" } }),
        200
      )
      expect(updated.data).toMatchObject({ Email: slash, LastName: "O'Neil", CustomFields: { x: "1" } })
      assert.isTrue(isEmpty((yield* asking((client) => client.contactsByEmailDelete(slash), 200)).data))
      const missing = yield* asking((client) => client.contactsByEmailGet(slash), 404)
      assert.deepStrictEqual(Object.keys(yield* as(ErrorBody, missing)), ["Error"])
      yield* asking((client) => client.contactsByEmailDelete(slash), 404)
      yield* asking((client) => client.contactsByEmailPut(slash, { FirstName: "A" }), 404)
    })
  )

  it.effect("changes contacts with a key that may not view them, and gets back what it sent", () =>
    Effect.gen(function* () {
      const { withKey } = yield* Official
      const Email = "blind@example.com"
      yield* asking((client) => client.contactsPost([{ Email, FirstName: "Hidden", LastName: "Hidden" }]), 200)
      const made = yield* asking(
        (client) => client.securityApikeysPost({ Name: "blind", AccessLevel: ["ModifyContacts"] }),
        201
      )
      const blind = withKey((yield* as(Token, made)).Token)
      const other = { Email: "other@example.com", FirstName: "Other" }
      const added = yield* Effect.promise(() => blind.contactsPost([other, { Email, Status: "Active" }]))
      assert.strictEqual(added.status, 200)
      expect(added.data).toMatchObject([other, { Email, Status: "Active" }])
      const updated = yield* Effect.promise(() => blind.contactsByEmailPut(Email, { FirstName: "Seen" }))
      assert.strictEqual(updated.status, 200)
      expect(updated.data).toMatchObject({ Email, FirstName: "Seen" })
      assert.notInclude(JSON.stringify([added.data, updated.data]), "Hidden")
      for (const email of [Email, other.Email]) yield* asking((client) => client.contactsByEmailDelete(email), 200)
      yield* asking((client) => client.securityApikeysByNameDelete("blind"), 200)
    })
  )

  it.effect("deletes contacts in bulk", () =>
    Effect.gen(function* () {
      const emails = ["d1@bulk.example", "d+2@bulk.example", "d3@bulk.example"]
      yield* asking((client) => client.contactsPost(emails.map((Email) => ({ Email }))), 200)
      assert.isTrue(
        isEmpty((yield* asking((client) => client.contactsDeletePost({ Emails: emails.slice(0, 2) }), 200)).data)
      )
      yield* asking((client) => client.contactsByEmailGet(emails[1] ?? ""), 404)
      yield* asking((client) => client.contactsByEmailGet(emails[2] ?? ""), 200)
      yield* asking((client) => client.contactsDeletePost({ Rule: "email ends-with '@bulk.example'" }), 200)
      yield* asking((client) => client.contactsByEmailGet(emails[2] ?? ""), 404)
      yield* asking((client) => client.contactsDeletePost({ Rule: "All", Emails: emails }), 400)
      yield* asking(
        (client) => client.contactsPost(Array.from({ length: 1001 }, (_, i) => ({ Email: `m${i}@bulk.example` }))),
        400
      )
    })
  )

  it.effect("imports a file", () =>
    Effect.gen(function* () {
      const file = [
        "contacts.csv",
        'Email,FirstName,City\r\ni1@import.example,Ańn,"Łódź, PL"\r\ni2@import.example,Bo,\r\n'
      ] as const
      yield* asking((client) => client.contactsPost([{ Email: "i0@import.example" }], ["Imported"]), 200)
      const accepted = yield* asking(
        (client) => client.contactsImportPost({ listName: "Imported", encodingName: "utf-8", file }),
        202
      )
      assert.isTrue(isEmpty(accepted.data))
      const { client } = yield* Official
      const last = yield* eventually(
        Effect.promise(() => client.contactsByEmailGet("i2@import.example")),
        (answer) => answer.status === 200
      )
      expect(last.data).toMatchObject({ FirstName: "Bo", Source: "FileUpload" })
      expect((yield* asking((official) => official.contactsByEmailGet("i1@import.example"), 200)).data).toMatchObject({
        FirstName: "Ańn",
        CustomFields: { City: "Łódź, PL" }
      })
      yield* asking((official) => official.contactsImportPost({ listName: "No such list", file }), 400)
      // No file at all, and an address that no host is allowed for: with zero parts, or no content type.
      yield* asking((official) => official.contactsImportPost({}), 400)
      yield* asking((official) => official.contactsImportPost({ fileUrl: "https://files.example.com/c.csv" }), 400)
    })
  )

  it.effect("exports, looks at the status, and the link gives the file without a key", () =>
    Effect.gen(function* () {
      const emails = ["x+1@export.example", "x/2@export.example"]
      yield* asking((client) => client.contactsPost(emails.map((Email) => ({ Email, FirstName: `N ${Email}` }))), 200)
      const { client, served } = yield* Official
      const download = Effect.fnUntraced(function* (options: Parameters<OfficialClient["contactsExportPost"]>[0]) {
        const { Link, PublicExportID } = yield* as(
          ExportLink,
          yield* asking((official) => official.contactsExportPost(options), 202)
        )
        assert.match(PublicExportID, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)
        assert.isTrue(Link.startsWith(new URL(served.baseUrl).origin), Link)
        const { data } = yield* eventually(
          Effect.promise(() => client.contactsExportByIdStatusGet(PublicExportID)),
          (answer) => answer.data !== "Loading"
        )
        assert.strictEqual(data, "Ready")
        const response = yield* Effect.promise(() => fetch(Link))
        assert.strictEqual(response.status, 200)
        return new Uint8Array(yield* Effect.promise(() => response.arrayBuffer()))
      })
      const rule = "email ends-with '@export.example'"
      const csv = csvRecordsOf(textOf(yield* download({ rule })))
      assert.deepStrictEqual(
        csv.map((record) => [record.get("Email"), record.get("FirstName")]),
        emails.map((email) => [email, `N ${email}`])
      )
      const json = jsonRecordsOf(textOf(yield* download({ fileFormat: "Json", emails })))
      assert.deepStrictEqual<ReadonlyArray<unknown>>(
        json.map((record) => record["Email"]),
        emails
      )
      const xml = xmlOf(
        textOf(yield* download({ fileFormat: "Xml", rule, compressionFormat: "None", fileName: "my contacts.xml" }))
      )
      assert.strictEqual(xml.children.length, 2)
      const files = [
        ...zipOf(
          yield* download({
            fileFormat: "Csv",
            emails: emails.slice(0, 1),
            compressionFormat: "Zip",
            fileName: "my contacts.csv"
          })
        )
      ]
      assert.deepStrictEqual(
        files.map(([file]) => file),
        ["my contacts.csv"]
      )
      assert.strictEqual(csvRecordsOf(textOf(files[0]?.[1] ?? new Uint8Array())).length, 1)
      assert.isAbove(csvRecordsOf(textOf(yield* download({}))).length, 1)
      yield* asking((official) => official.contactsExportByIdStatusGet("00000000-0000-4000-8000-000000000000"), 404)
      yield* asking((official) => official.contactsExportPost({ rule: "All", emails }), 400)
      yield* asking((official) => official.contactsExportPost({ rule: "no rule at all" }), 400)
    })
  )
}
