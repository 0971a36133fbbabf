import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FileSystem, Layer, Result, Schema, Stream } from "effect"
import {
  ContactPayload,
  type ImportRow,
  ContactsService,
  type FileHeader,
  InvalidInput,
  InvalidResponse,
  OutcomeUnknown,
  ServiceError,
  TooManyContacts,
  Unavailable
} from "@roster/domain"
import { makeUpload, uploadContacts, type UploadProgress } from "../../src/upload/Upload.ts"
import {
  type UploadEntry,
  type UploadJournal,
  uploadJournalMemory,
  type UploadIdentity
} from "../../src/upload/UploadJournal.ts"
import { surveyContacts } from "../../src/upload/UploadSurvey.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

const unused = () => Effect.die("not a part of an upload")

/** What the other side knows of every call, to hold the report against. */
interface Ledger {
  readonly calls: Array<ReadonlyArray<string>>
  readonly stored: Map<string, ContactPayload>
  readonly lost: Array<string>
  lists: ReadonlyArray<string>
}

const ledger = (): Ledger => ({ calls: [], stored: new Map(), lost: [], lists: [] })

/** What a service may do with a call: the Nth one fails so; addresses that it refuses; the most that it takes at once. */
interface Temper {
  readonly failAt?: number
  readonly failAs?: "Unavailable" | "OutcomeUnknown" | "InvalidResponse"
  readonly refuses?: (email: string) => boolean
  /** The contacts that keep their status. */
  readonly keeps?: (email: string) => boolean
  readonly most?: number
}

/** Files of this size need no disk. */
const noDisk = FileSystem.layerNoop({})

const service = (seen: Ledger, { failAs, failAt, keeps = () => false, most = 1000, refuses = () => false }: Temper) =>
  Layer.merge(
    noDisk,
    Layer.succeed(ContactsService, {
      get: unused,
      list: unused,
      update: unused,
      delete: unused,
      change: unused,
      deleteMany: unused,
      import: unused,
      export: unused,
      exportStatus: unused,
      stream: () => Stream.die("not a part of this"),
      download: () => Stream.die("not a part of an upload"),
      add: unused,
      addWithoutAnswer: Effect.fnUntraced(function* (
        given: Iterable<ContactPayload>,
        options?: { readonly listNames?: ReadonlyArray<string> | undefined }
      ) {
        const contacts = Array.from(given)
        const call = seen.calls.length
        const emails = contacts.map((contact) => contact.email)
        seen.calls.push(emails)
        seen.lists = options?.listNames ?? []
        if (call === failAt) {
          if (failAs !== "Unavailable") seen.lost.push(...emails)
          const reason =
            failAs === "OutcomeUnknown"
              ? new OutcomeUnknown({ recovery: "look", detail: "cut" })
              : failAs === "InvalidResponse"
                ? new InvalidResponse({ status: 200, detail: "no JSON" })
                : new Unavailable({ detail: "down" })
          return yield* new ServiceError({ operation: "contactsPost", reason })
        }
        if (contacts.length > most) return yield* new TooManyContacts({ count: contacts.length, maximum: most })
        const bad = emails.findIndex(refuses)
        if (bad >= 0) return yield* new InvalidInput({ field: `[${bad}].Email`, issue: "no" })
        for (const contact of contacts) seen.stored.set(contact.email.toLowerCase(), contact)
        return {
          keptStatuses: emails.flatMap((email, index) =>
            keeps(email) ? [{ index, status: "Unsubscribed" as const }] : []
          )
        }
      })
    })
  )

const header: FileHeader = { cells: ["Email", "FirstName"], delimiter: "," }

const good = (line: number, email: string, firstName?: string): ImportRow => ({
  line,
  header,
  cells: [email, firstName ?? ""],
  contact: Result.succeed(
    Schema.decodeSync(ContactPayload)({ Email: email, ...(firstName === undefined ? {} : { FirstName: firstName }) })
  )
})
const bad = (line: number): ImportRow => ({
  line,
  header,
  cells: ["", "Nobody"],
  contact: Result.fail("the row has no e-mail address")
})

const upload = (
  rows: ReadonlyArray<ImportRow>,
  temper: Temper = {},
  options?: { readonly listNames: ReadonlyArray<string> }
) =>
  Effect.gen(function* () {
    const seen = ledger()
    const file = Stream.fromIterable(rows)
    const upload = yield* Effect.flatMap(surveyContacts(file), (survey) => makeUpload(file, survey, options)).pipe(
      Effect.provide(service(seen, temper))
    )
    yield* upload.send()
    return { report: yield* upload.report, rejected: yield* Stream.runCollect(upload.rejected), seen }
  })

const numbered = (count: number) => Array.from({ length: count }, (_, i) => good(i + 2, `u${i}@example.com`))

describe("surveyContacts", () => {
  it.effect("refuses more rows than one upload takes, before anything is sent", () =>
    Effect.gen(function* () {
      const survey = (count: number) => surveyContacts(Stream.fromIterable(numbered(count)), { maximumRows: 2500 })
      assert.strictEqual((yield* survey(2500)).read, 2500)
      const error = yield* Effect.flip(survey(2501))
      assert.deepStrictEqual([error._tag, error.maximum], ["TooManyRows", 2500])
    })
  )
})

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
      assert.deepStrictEqual([report.read, report.accepted, report.rejected], [2500, 2500, 0])
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
      const { rejected, report, seen } = yield* upload(
        [bad(2), ...numbered(50).map((row) => ({ ...row, line: row.line + 1 }))],
        {
          refuses: (email) => email === "u17@example.com" || email === "u48@example.com"
        }
      )
      assert.deepStrictEqual(
        report.rejectedRows.map((row) => row.line),
        [2, 20, 51]
      )
      assert.deepStrictEqual(
        rejected.map((row) => row.cells),
        [
          ["", "Nobody"],
          ["u17@example.com", ""],
          ["u48@example.com", ""]
        ]
      )
      assert.strictEqual(report.header, header)
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
      assert.deepStrictEqual([report.read, report.accepted, report.rejected + report.notSent], [3, 0, 3])
    })
  )

  it.effect("stops where the service does, and says what was not sent", () =>
    Effect.gen(function* () {
      const { report, seen } = yield* upload(numbered(2500), { failAt: 1, failAs: "Unavailable" })
      assert.deepStrictEqual([report.accepted, report.notSent, report.unknown, seen.calls.length], [1000, 1500, 0, 2])
      assert.strictEqual(report.stoppedBy?.reason._tag, "Unavailable")
    })
  )

  it.effect.each(["OutcomeUnknown", "InvalidResponse"] as const)(
    "counts an answer that was lost, or cannot be read, apart: %s",
    (failAs) =>
      Effect.gen(function* () {
        const { report } = yield* upload(numbered(2500), { failAt: 1, failAs })
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
          report.accepted + report.rejected + report.duplicates + report.notSent + report.unknown,
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
          report.rejectedRows.map((row) => row.line),
          report.rejectedRows.map((row) => row.line).sort((x, y) => x - y)
        )
      }),
    { arbitrary: { runs: long ? 300 : 100 } }
  )
})

const identity: UploadIdentity = { sha256: "00", bytes: 1, target: "here", listNames: [], columns: [] }

/** What can be sent of the files below: good rows, some twice, some that our check or the service refuses. */
const mixed = (count: number): ReadonlyArray<ImportRow> =>
  Array.from({ length: count }, (_, i) =>
    i % 97 === 5
      ? bad(i + 2)
      : i % 53 === 7
        ? good(i + 2, `U${i + 3}@example.com`)
        : good(i + 2, i % 701 === 1 ? `no${i}@example.com` : `u${i}@example.com`)
  )
const refusesNo = (email: string) => email.startsWith("no")

const total = (report: { accepted: number; rejected: number; duplicates: number; notSent: number; unknown: number }) =>
  report.accepted + report.rejected + report.duplicates + report.notSent + report.unknown

/** The rows that a journal holds as accepted, by a reading of its own. */
const acceptedIn = (entries: ReadonlyArray<UploadEntry>, rows: ReadonlyArray<ImportRow>): ReadonlySet<string> => {
  const refused = new Set(
    entries.flatMap((entry) => (entry._tag === "Answered" ? entry.refused : [])).map((r) => r.row)
  )
  const last = new Map<string, number>()
  for (const [i, { contact }] of rows.entries()) {
    if (Result.isSuccess(contact)) last.set(contact.success.email.toLowerCase(), i + 1)
  }
  const emails = entries
    .flatMap((entry) => (entry._tag === "Answered" ? entry.accepted : []))
    .flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))
    .filter((row) => !refused.has(row))
    .flatMap((row) => {
      const contact = rows[row - 1]?.contact
      if (contact === undefined || Result.isFailure(contact)) return []
      const { email } = contact.success
      return last.get(email.toLowerCase()) === row ? [email] : []
    })
  return new Set(emails)
}

describe("uploadContacts of contacts that come from no file", () => {
  const contact = (email: string, firstName?: string) => ({ email, firstName })

  /** A service without a file system beside it, so that the compiler says whether one is needed. */
  const alone = (seen: Ledger, temper: Temper = {}) =>
    Layer.effect(ContactsService, ContactsService).pipe(Layer.provide(service(seen, temper)))

  it.effect("sends the last of each address, and names the others by their place", () =>
    Effect.gen(function* () {
      const seen = ledger()
      const contacts = [
        contact("Ann@Example.com", "first"),
        contact("ada at example.com"),
        contact("no@example.com"),
        contact("ann@example.com", "last")
      ]
      const report = yield* uploadContacts(Stream.fromIterable(contacts), { listNames: ["News"] }).pipe(
        Effect.provide(alone(seen, { refuses: (email) => email === "no@example.com" }))
      )
      assert.deepStrictEqual(
        [report.read, report.accepted, report.rejected, report.duplicates, report.notSent],
        [4, 1, 2, 1, 0]
      )
      assert.deepStrictEqual(report.rejectedRows, [
        { line: 2, reason: "Email: an e-mail address has an @, as in name@example.com" },
        { line: 3, reason: "Invalid Email: no" }
      ])
      assert.deepStrictEqual([...seen.stored.values()], [{ email: "ann@example.com", firstName: "last" }])
      assert.deepStrictEqual(seen.lists, ["News"])
    })
  )

  it.effect("takes none, and refuses what is no contact", () =>
    Effect.gen(function* () {
      const seen = ledger()
      const none = yield* uploadContacts(Stream.empty).pipe(Effect.provide(alone(seen)))
      assert.deepStrictEqual([none.read, none.header], [0, undefined])
      // What gets past the compiler.
      const strange = Stream.fromIterable<unknown>([null, 7, { email: 7 }]) as Stream.Stream<ContactPayload>
      const report = yield* uploadContacts(strange).pipe(Effect.provide(alone(seen)))
      assert.deepStrictEqual([report.read, report.rejected, seen.calls.length], [3, 3, 0])
    })
  )

  it.effect("says how far it is: first what is read, then each answer, up to the report", () =>
    Effect.gen(function* () {
      const seen = ledger()
      const contacts = Array.from({ length: 2500 }, (_, i) => contact(i === 7 ? "no@example.com" : `u${i}@example.com`))
      const steps: Array<UploadProgress> = []
      const onProgress = (progress: UploadProgress) => Effect.sync(() => void steps.push(progress))
      const report = yield* uploadContacts(Stream.rechunk(Stream.fromIterable(contacts), 2000), {
        concurrency: 1,
        onProgress
      }).pipe(Effect.provide(alone(seen, { refuses: (email) => email === "no@example.com" })))
      const answered = (accepted: number, refused: number) => ({
        sendable: 2500,
        read: 2500,
        accepted,
        refused,
        unknown: 0
      })
      const read = (count: number) => ({ sendable: undefined, read: count, accepted: 0, refused: 0, unknown: 0 })
      assert.deepStrictEqual(steps, [read(2000), read(2500), answered(999, 1), answered(1999, 1), answered(2499, 1)])
      assert.deepStrictEqual([report.accepted, report.rejected], [2499, 1])
    })
  )

  it.effect("resumes with a journal, by place, and counts what earlier runs got", () =>
    Effect.gen(function* () {
      const lines = yield* uploadJournalMemory
      const contacts = Stream.fromIterable(Array.from({ length: 2500 }, (_, i) => contact(`u${i}@example.com`)))
      const options = { journal: { lines, identity }, concurrency: 1 }
      const first = yield* uploadContacts(contacts, options).pipe(
        Effect.provide(service(ledger(), { failAt: 1, failAs: "Unavailable" }))
      )
      assert.deepStrictEqual([first.accepted, first.notSent], [1000, 1500])
      const second = ledger()
      const steps: Array<number> = []
      const onProgress = ({ accepted }: UploadProgress) => Effect.sync(() => void steps.push(accepted))
      const report = yield* uploadContacts(contacts, { ...options, onProgress }).pipe(
        Effect.provide(service(second, {}))
      )
      assert.deepStrictEqual([report.accepted, report.acceptedEarlier, second.stored.size], [2500, 1000, 1500])
      assert.deepStrictEqual(steps.slice(-2), [2000, 2500])
    })
  )
})

describe("uploadContacts with a journal", () => {
  const run = (rows: ReadonlyArray<ImportRow>, lines: UploadJournal, seen: Ledger, temper: Temper = {}) =>
    uploadContacts(Stream.fromIterable(rows), { journal: { lines, identity }, concurrency: 3 }).pipe(
      Effect.provide(service(seen, temper))
    )

  it.effect("goes on after a death at any line of its journal, and sends nothing again that the journal has", () =>
    Effect.gen(function* () {
      const rows = mixed(4500)
      const whole = ledger()
      const temper: Temper = { refuses: refusesNo, keeps: (email) => email.includes("7") }
      const expected = yield* run(rows, yield* uploadJournalMemory, whole, temper)
      assert.strictEqual(total(expected), rows.length)
      assert.isAbove(expected.rejected, 40)
      assert.isAbove(expected.duplicates, 40)
      assert.isAbove(expected.statusesKept, 40)
      assert.strictEqual(expected.keptStatuses.length, expected.statusesKept)
      let deaths = 0
      for (let at = 1, ended = false; !ended; at++) {
        for (const kept of [true, false]) {
          const memory = yield* uploadJournalMemory
          let appended = 0
          const mortal: UploadJournal = {
            ...memory,
            append: (entry) =>
              Effect.suspend(() => {
                if (++appended !== at) return appended > at ? Effect.never : memory.append(entry)
                return Effect.andThen(kept ? memory.append(entry) : Effect.void, Effect.die("killed"))
              })
          }
          const first = ledger()
          const exit = yield* Effect.exit(run(rows, mortal, first, temper))
          ended = Exit.isSuccess(exit)
          if (ended) break
          deaths++
          const noted = acceptedIn((yield* memory.load)?.entries ?? [], rows)
          const second = ledger()
          const report = yield* run(rows, memory, second, temper)
          assert.deepStrictEqual(
            second.calls.flat().filter((email) => noted.has(email)),
            []
          )
          // What the journal has as accepted, the other side has too; and in the end all rows are there.
          for (const email of noted) assert.isTrue(first.stored.has(email.toLowerCase()))
          assert.deepStrictEqual(
            [...new Set([...first.stored.keys(), ...second.stored.keys()])].sort(),
            [...whole.stored.keys()].sort()
          )
          assert.strictEqual(report.acceptedEarlier, noted.size)
          assert.deepStrictEqual({ ...report, acceptedEarlier: 0 }, expected)
          assert.isUndefined(yield* memory.load)
        }
      }
      assert.isAtLeast(deaths, 16)
    })
  )

  it.effect.each(["Unavailable", "OutcomeUnknown"] as const)(
    "K12 five parts of which the third ends in %s: the next run sends what is left, and nothing else",
    (failAs) =>
      Effect.gen(function* () {
        const rows = numbered(5000)
        const memory = yield* uploadJournalMemory
        const first = ledger()
        const options = { journal: { lines: memory, identity }, concurrency: 1 }
        const stopped = yield* uploadContacts(Stream.fromIterable(rows), options).pipe(
          Effect.provide(service(first, { failAt: 2, failAs }))
        )
        const lost = failAs === "OutcomeUnknown" ? 1000 : 0
        assert.deepStrictEqual(
          [stopped.accepted, stopped.unknown, stopped.notSent, stopped.stoppedBy?.reason._tag],
          [2000, lost, 3000 - lost, failAs]
        )
        const second = ledger()
        const report = yield* run(rows, memory, second)
        assert.deepStrictEqual(
          second.calls.flat().sort(),
          rows
            .slice(2000)
            .flatMap(({ contact }) => (Result.isSuccess(contact) ? [contact.success.email] : []))
            .sort()
        )
        assert.deepStrictEqual(
          [report.accepted, report.acceptedEarlier, report.unknown, report.notSent],
          [5000, 2000, 0, 0]
        )
        assert.isUndefined(yield* memory.load)
      })
  )

  it.effect("counts what has no answer as unknown when it is interrupted", () =>
    Effect.gen(function* () {
      const seen = ledger()
      const memory = yield* uploadJournalMemory
      const asked = yield* Deferred.make<void>()
      const slow = Layer.effect(
        ContactsService,
        Effect.map(ContactsService, (inner) => ({
          ...inner,
          addWithoutAnswer: (contacts: Iterable<ContactPayload>) =>
            seen.calls.length < 2
              ? inner.addWithoutAnswer(contacts)
              : Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
        }))
      ).pipe(Layer.provideMerge(service(seen, {})))
      const file = Stream.fromIterable(numbered(5000))
      const options = { journal: { lines: memory, identity }, concurrency: 2 }
      const upload = yield* Effect.flatMap(surveyContacts(file), (survey) => makeUpload(file, survey, options)).pipe(
        Effect.provide(slow)
      )
      const sending = yield* Effect.forkChild(upload.send())
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(sending)
      const report = yield* upload.report
      assert.strictEqual(total(report), 5000)
      assert.strictEqual(report.accepted, 2000)
      assert.include([1000, 2000], report.unknown)
      const again = yield* run(numbered(5000), memory, ledger())
      assert.deepStrictEqual([again.accepted, again.acceptedEarlier], [5000, 2000])
    })
  )

  it.effect("refuses the journal of another upload, in words, and begins anew where it is told to", () =>
    Effect.gen(function* () {
      const memory = yield* uploadJournalMemory
      yield* memory.begin({ ...identity, target: "there", sha256: "01" })
      yield* memory.append({ _tag: "Answered", accepted: [[1, 10]], refused: [], unknown: [] })
      const seen = ledger()
      const refused = yield* Effect.flip(run(numbered(10), memory, seen))
      assert.strictEqual(
        refused.message,
        "The journal is that of another upload: the file has changed since; it went to there, and this goes to here."
      )
      assert.deepStrictEqual(seen.calls, [])
      const report = yield* uploadContacts(Stream.fromIterable(numbered(10)), {
        journal: { lines: memory, identity, restart: true }
      }).pipe(Effect.provide(service(seen, {})))
      assert.deepStrictEqual([report.accepted, report.acceptedEarlier, seen.stored.size], [10, 0, 10])
    })
  )

  const Choice = Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7])
  it.effect.prop(
    "accounts for every row over any number of runs that stop",
    [Schema.Array(Choice), Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))), Choice],
    ([kinds, failures, most]) =>
      Effect.gen(function* () {
        const rows = kinds.map((kind, i) =>
          kind === 0 ? bad(i + 2) : good(i + 2, kind < 3 ? `no${i}@example.com` : kind < 5 ? "a@x.de" : `u${i}@x.de`)
        )
        const memory = yield* uploadJournalMemory
        const stored = new Set<string>()
        for (const [i, failAt] of [...failures, 1e9].entries()) {
          const seen = ledger()
          const noted = acceptedIn((yield* memory.load)?.entries ?? [], rows)
          const report = yield* run(rows, memory, seen, {
            failAt,
            failAs: i % 2 === 0 ? "OutcomeUnknown" : "Unavailable",
            refuses: refusesNo,
            most: most + 1
          })
          for (const email of seen.stored.keys()) stored.add(email)
          assert.strictEqual(total(report), rows.length)
          assert.strictEqual(report.acceptedEarlier, noted.size)
          assert.deepStrictEqual(
            seen.calls.flat().filter((email) => noted.has(email)),
            []
          )
          if (failAt < 1e9) continue
          assert.deepStrictEqual([report.notSent, report.unknown, report.accepted], [0, 0, stored.size])
        }
      }),
    { arbitrary: { runs: long ? 200 : 60 } }
  )
})
