/**
 * What an import of the service says of the rows that it read: repeated addresses, and the rows that it rejected.
 */
import { assert, describe, it } from "@effect/vitest"
import { AccountService, ContactsService, EmailAddress, rejectedRowsFile } from "@roster/domain"
import { Array as Arr, Effect } from "effect"
import { maximumKeptStatuses } from "../../../server/src/jobs/imports/KeptRows.ts"
import { ended, importText, textOf, working } from "./StoreWithJobs.ts"

const ann = EmailAddress.make("ann@example.com")

describe("an import of the service", () => {
  it.live("takes of each address the last row, field by field, and counts those that repeat one", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* contacts.add([{ email: ann, firstName: "Before" }])
      const many = Array.from({ length: 2500 }, (_, row) => `p${row % 1200}@example.com,,${row}`)
      const text = [
        "Email,FirstName,City",
        "Ann@Example.com,Ann,Bonn",
        "nobody,X,Y",
        "ann@example.com,,Köln",
        ...many,
        "ANN@EXAMPLE.COM,Anna,",
        "nobody,X,Y"
      ].join("\n")
      yield* importText(text)
      const job = yield* ended
      assert.deepInclude(job, {
        state: "Ready",
        rowsDone: 2505,
        rowsTotal: 2505,
        accepted: 2503,
        rejected: 2,
        rejectedKept: 2,
        duplicates: 2 + 1300
      })
      const { customFields, firstName } = yield* contacts.get(ann)
      assert.deepStrictEqual<unknown>([firstName, customFields], ["Anna", { City: "Köln" }])
      assert.deepStrictEqual((yield* contacts.get("p50@example.com")).customFields, { City: "2450" })
      // The next file begins anew.
      yield* importText("Email\nann@example.com\np1@example.com\n")
      assert.deepInclude(yield* ended, { accepted: 2, duplicates: 0 })
    }).pipe(Effect.provide(working))
  )

  it.live("keeps the rows that it rejects, which make a file that is rejected again or imported once corrected", () =>
    Effect.gen(function* () {
      const header = "eMail;FirstName;'=Note"
      const bad = Array.from({ length: 1200 }, (_, row) => `nobody${row};"a ""b""\r\n;";=${row}`)
      const good = Array.from({ length: 1200 }, (_, row) => `p${row}@example.com;P;x`)
      const file = [header, ...bad.flatMap((row, index) => [row, good[index] ?? ""]), "short@example.com;x"]
      yield* importText(`${file.join("\r\n")}\r\n`)
      const first = yield* ended
      assert.deepInclude(first, { rejected: 1201, rejectedKept: 1201, accepted: 1200 })
      const rejected = yield* textOf(rejectedRowsFile(first.id))
      assert.strictEqual(
        rejected,
        [
          `\ufeff${header};_error`,
          ...bad.map(
            (row) => `${row.replace(";=", ";'=")};"Email: an e-mail address has an @, as in name@example.com"`
          ),
          'short@example.com;x;"the row has 2 cells, the header has 3 columns"',
          ""
        ].join("\r\n")
      )

      yield* importText(rejected)
      const second = yield* ended
      assert.deepInclude(second, { rejected: 1201, accepted: 0 })
      assert.strictEqual(yield* textOf(rejectedRowsFile(second.id)), rejected)

      yield* importText(rejected.replaceAll(/nobody(\d+)/g, "n$1@example.com").replace(';x;"the', ';x;;"the'))
      const third = yield* ended
      assert.deepInclude(third, { rejected: 0, accepted: 1201, rejectedKept: 0 })
      assert.strictEqual(yield* textOf(rejectedRowsFile(third.id)), "")
      const contact = yield* (yield* ContactsService).get("n7@example.com")
      assert.deepStrictEqual<unknown>([contact.firstName, contact.customFields], ['a "b"\r\n;', { "=Note": "=7" }])
    }).pipe(Effect.provide(working))
  )

  it.live.each([1000, 1001])("lists the first 1000 rows whose contacts kept their status, of %s", (count) =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const jobs = yield* AccountService
      const people = Array.from({ length: count }, (_, row) => EmailAddress.make(`p${row}@example.com`))
      for (const some of Arr.chunksOf(people, 1000)) {
        yield* contacts.add(some.map((email) => ({ email, status: "Bounced" })))
      }
      yield* importText(`Email,Status\n\n${people.map((email) => `${email},Engaged\n`).join("")}nobody,Active\n`)
      const job = yield* ended
      assert.deepInclude(job, { state: "Ready", accepted: count, rejected: 1, statusesKept: count })
      assert.deepStrictEqual(
        yield* jobs.keptStatuses(job.id),
        Array.from({ length: maximumKeptStatuses }, (_, row) => ({ line: row + 3, status: "Bounced" as const }))
      )
      assert.strictEqual((yield* contacts.get(people.at(-1) ?? "")).status, "Bounced")
      assert.strictEqual((yield* Effect.flip(jobs.keptStatuses("none")))._tag, "JobNotFound")
    }).pipe(Effect.provide(working))
  )
})
