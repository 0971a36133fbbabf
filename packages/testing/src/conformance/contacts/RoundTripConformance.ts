/** On every layer, importing an exported file into the same store changes nothing. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { type Contact, ContactFilter, ContactsService } from "@roster/domain"
import { Effect } from "effect"
import { awkwardFields, awkwardTexts } from "./ContactTextConformance.ts"
import { csvOf, textOf } from "../jobs/ExportedFile.ts"
import { exported } from "../jobs/Exporting.ts"
import { file, imported, profile, utf8 } from "../jobs/Importing.ts"
import { place } from "../cases/Place.ts"

export const roundTripConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: an export that is imported again", () => {
    const formulas = ["=1+1", "+49", "-x", "@x", "\tx", "'=x", "''", "x;=1", "'a|'＝1"]
    const arrange = Effect.gen(function* () {
      const contacts = yield* ContactsService
      const { email, rule } = place()
      yield* contacts.add([
        ...[...awkwardTexts, ...formulas].map((text, i) => ({
          email: email(`=t${i}`),
          firstName: text,
          lastName: `${text}.`,
          customFields: { text }
        })),
        {
          email: email("full"),
          status: "Abuse",
          consent: { ip: "2001:db8::1", tracking: "Deny" },
          customFields: awkwardFields
        },
        { email: email("o'c+d/e"), status: "NotConfirmed" }
      ])
      const before = yield* contacts.list({ rule, limit: 1000 })
      const content = textOf(yield* exported({ filter: ContactFilter.ByRule({ rule }) }))
      const marker = email("marker")
      // One more row at the end: once it is there, the others have been read.
      const cells = csvOf(content)[0]?.length ?? 0
      const again = file(utf8(`${content}${marker}${",".repeat(cells - 1)}\r\n`))
      return { before, again, marker, rule }
    })

    it.effect("changes nothing in the same store", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { again, before, marker, rule } = yield* arrange
        yield* contacts.import(again)
        const after = yield* imported(rule, before.length + 1)
        assert.deepStrictEqual(after.filter((contact) => contact.email !== marker).map(profile), before.map(profile))
      })
    )

    it.needing("own-account").effect("brings deleted contacts back", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { again, before, rule } = yield* arrange
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule }))
        yield* contacts.import(again)
        const after = yield* imported(rule, before.length + 1)
        const said = ({ consent, customFields, email, firstName, lastName, status }: Contact) => ({
          consent,
          customFields,
          email,
          firstName,
          lastName,
          status
        })
        assert.deepStrictEqual(after.slice(0, -1).map(said), before.map(said))
      })
    )
  })
}
