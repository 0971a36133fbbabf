import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema, Stream } from "effect"
import { type Contact, ContactPayload, TooManyContacts } from "../src/Contact.ts"
import type { ContactRow } from "../src/ContactCsv.ts"
import { uploadContacts } from "../src/ContactUpload.ts"
import { ContactsService } from "../src/ContactsService.ts"
import { InvalidInput } from "../src/InvalidInput.ts"
import { OutcomeUnknown, ServiceError, Unavailable } from "../src/ServiceError.ts"

const unused = () => Effect.die("not a part of an upload")

/** What the other side knows of every call, to hold the report against. */
interface Ledger {
  readonly calls: Array<ReadonlyArray<string>>
  readonly stored: Map<string, Contact>
  readonly lost: Array<string>
  lists: ReadonlyArray<string>
}

const ledger = (): Ledger => ({ calls: [], stored: new Map(), lost: [], lists: [] })

/** What a service may do with a call: the Nth one fails so; addresses that it refuses; the most that it takes at once. */
interface Temper {
  readonly failAt?: number
  readonly failAs?: "Unavailable" | "OutcomeUnknown"
  readonly refuses?: (email: string) => boolean
  readonly most?: number
}

const service = (seen: Ledger, { failAs, failAt, most = 1000, refuses = () => false }: Temper) =>
  Layer.succeed(ContactsService, {
    get: unused,
    list: unused,
    update: unused,
    delete: unused,
    deleteMany: unused,
    import: unused,
    export: unused,
    exportStatus: unused,
    stream: () => Stream.die("not a part of this"),
    download: () => Stream.die("not a part of an upload"),
    add: Effect.fnUntraced(function* (
      contacts: ReadonlyArray<ContactPayload>,
      options?: { readonly listNames?: ReadonlyArray<string> | undefined }
    ) {
      const call = seen.calls.length
      const emails = contacts.map((contact) => contact.email)
      seen.calls.push(emails)
      seen.lists = options?.listNames ?? []
      if (call === failAt) {
        const unavailable = new Unavailable({ detail: "down" })
        if (failAs === "OutcomeUnknown") seen.lost.push(...emails)
        const reason =
          failAs === "OutcomeUnknown" ? new OutcomeUnknown({ recovery: "look", detail: "cut" }) : unavailable
        return yield* new ServiceError({ operation: "contactsPost", reason })
      }
      if (contacts.length > most) return yield* new TooManyContacts({ count: contacts.length, maximum: most })
      const bad = emails.findIndex(refuses)
      if (bad >= 0) return yield* new InvalidInput({ field: `[${bad}].Email`, issue: "no" })
      for (const contact of contacts) seen.stored.set(contact.email.toLowerCase(), contact)
      return contacts
    })
  })

const good = (line: number, email: string, firstName?: string): ContactRow => ({
  line,
  contact: Result.succeed(
    Schema.decodeSync(ContactPayload)({ Email: email, ...(firstName === undefined ? {} : { FirstName: firstName }) })
  )
})
const bad = (line: number): ContactRow => ({ line, contact: Result.fail("the row has no e-mail address") })

const upload = (
  rows: ReadonlyArray<ContactRow>,
  temper: Temper = {},
  options?: { readonly listNames: ReadonlyArray<string> }
) =>
  Effect.gen(function* () {
    const seen = ledger()
    const report = yield* uploadContacts(Stream.fromIterable(rows), options).pipe(Effect.provide(service(seen, temper)))
    return { report, seen }
  })

const numbered = (count: number) => Array.from({ length: count }, (_, i) => good(i + 2, `u${i}@example.com`))

describe("uploadContacts", () => {
  it.effect("sends in the order of the file, at most 1000 at once, with the lists", () =>
    Effect.gen(function* () {
      const { report, seen } = yield* upload(numbered(2500), {}, { listNames: ["News"] })
      assert.deepStrictEqual(
        seen.calls.map((emails) => emails.length),
        [1000, 1000, 500]
      )
      assert.deepStrictEqual(
        seen.calls.flat(),
        numbered(2500).map((_, i) => `u${i}@example.com`)
      )
      assert.deepStrictEqual(seen.lists, ["News"])
      assert.deepStrictEqual([report.read, report.accepted, report.rejected.length], [2500, 2500, 0])
    })
  )

  it.effect("sends nothing for an empty file", () =>
    Effect.gen(function* () {
      const { report, seen } = yield* upload([])
      assert.deepStrictEqual(seen.calls, [])
      assert.strictEqual(report.read, 0)
    })
  )

  it.effect("sends of each address the last row, whatever its spelling", () =>
    Effect.gen(function* () {
      const rows = [good(2, "Ann@Example.com", "first"), good(3, "b@example.com"), good(4, "ann@example.com", "last")]
      const { report, seen } = yield* upload(rows)
      assert.deepStrictEqual([report.read, report.accepted, report.duplicates], [3, 2, 1])
      assert.strictEqual(seen.stored.get("ann@example.com")?.firstName, "last")
    })
  )

  it.effect("loses no good row to a bad one beside it", () =>
    Effect.gen(function* () {
      const { report, seen } = yield* upload([bad(2), ...numbered(50).map((row) => ({ ...row, line: row.line + 1 }))], {
        refuses: (email) => email === "u17@example.com" || email === "u48@example.com"
      })
      assert.deepStrictEqual(
        report.rejected.map((row) => row.line),
        [2, 20, 51]
      )
      assert.deepStrictEqual([report.accepted, seen.stored.size], [48, 48])
    })
  )

  it.effect("goes on in parts where the service takes fewer at once", () =>
    Effect.gen(function* () {
      const { report } = yield* upload(numbered(1000), { most: 100 })
      assert.deepStrictEqual([report.accepted, report.notSent], [1000, 0])
    })
  )

  it.effect("ends where the service takes not even one", () =>
    Effect.gen(function* () {
      const { report } = yield* upload(numbered(3), { most: 0 })
      assert.deepStrictEqual([report.read, report.accepted, report.rejected.length + report.notSent], [3, 0, 3])
    })
  )

  it.effect("stops where the service does, and says what was not sent", () =>
    Effect.gen(function* () {
      const { report, seen } = yield* upload(numbered(2500), { failAt: 1, failAs: "Unavailable" })
      assert.deepStrictEqual([report.accepted, report.notSent, report.unknown, seen.calls.length], [1000, 1500, 0, 2])
      assert.strictEqual(report.stoppedBy?.reason._tag, "Unavailable")
    })
  )

  it.effect("counts an answer that was lost apart", () =>
    Effect.gen(function* () {
      const { report } = yield* upload(numbered(2500), { failAt: 1, failAs: "OutcomeUnknown" })
      assert.deepStrictEqual([report.accepted, report.notSent, report.unknown], [1000, 500, 1000])
    })
  )

  const Row = Schema.Struct({
    email: Schema.Literals(["a", "A", "b", "c", "d", "e", "f", "g", "no1", "no2", "no3"]),
    ok: Schema.Literals([true, true, true, false])
  })
  const Small = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  it.effect.prop(
    "accounts for every row, whatever the service does",
    [Schema.Array(Row), Small(0, 9), Schema.Literals(["Unavailable", "OutcomeUnknown"]), Small(1, 5)],
    ([rows, failAt, failAs, most]) =>
      Effect.gen(function* () {
        const file = rows.map(({ email, ok }, i) => (ok ? good(i + 2, `${email}@example.com`) : bad(i + 2)))
        const { report, seen } = yield* upload(file, {
          failAt,
          failAs,
          most,
          refuses: (email) => email.startsWith("no")
        })
        assert.strictEqual(report.read, rows.length)
        assert.strictEqual(
          report.accepted + report.rejected.length + report.duplicates + report.notSent + report.unknown,
          report.read
        )
        // The other side's own books say the same.
        assert.strictEqual(report.accepted, seen.stored.size)
        assert.strictEqual(report.unknown, seen.lost.length)
        assert.isAtLeast(report.notSent, 0)
        assert.strictEqual(report.notSent > 0 || report.unknown > 0, report.stoppedBy !== undefined)
        const identities = file.filter((row) => Result.isSuccess(row.contact)).length
        const distinct = new Set(rows.filter((row) => row.ok).map((row) => row.email.toLowerCase())).size
        assert.strictEqual(report.duplicates, identities - distinct)
        assert.deepStrictEqual(
          report.rejected.map((row) => row.line),
          report.rejected.map((row) => row.line).sort((x, y) => x - y)
        )
      }),
    { arbitrary: { runs: 300 } }
  )
})
