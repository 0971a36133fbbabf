import { assert, describe, it } from "@effect/vitest"
import {
  type AddMode,
  AccessDenied,
  type ContactPayload,
  ContactStatus,
  type ContactsService,
  type ImportWarning,
  layerTestContacts,
  OutcomeUnknown,
  readContacts,
  ServiceError
} from "@roster/domain"
import { Effect, Layer, Stream, Struct } from "effect"
import {
  addRows,
  importWarnings,
  makeImportPlan,
  makeImport,
  planImport,
  recipientWords,
  RunLog,
  type RunReport,
  surveyContacts,
  undoRun,
  importContacts
} from "../../src/index.ts"
import { makeFake, reportOf } from "../changes/fakeContacts.ts"

const source = (...contacts: ReadonlyArray<ContactPayload>) => Stream.fromIterable(contacts)

const rows = source(
  { email: "old@example.com", firstName: "Now" },
  { email: "new@example.com", firstName: "New" },
  { email: "said@example.com", status: "Inactive" },
  { email: "gone@example.com", firstName: "Gone" }
)

/** A service with contacts, one of which has unsubscribed, that compares changes or not. */
const withContacts = (compares: boolean) => {
  const fake = makeFake()
  fake.put("old@example.com", { firstName: "Before" })
  fake.put("gone@example.com", { status: "Unsubscribed" })
  const { service } = fake
  const plain = {
    ...service,
    getMany: (emails) =>
      Effect.sync(() => ({ contacts: emails.flatMap((email) => fake.of(email)?.contact ?? []), isAtOnce: true })),
    change: (changes, options) =>
      Effect.map(service.change(changes, options), (answers) => answers.map((answer) => ({ ...answer, exact: false })))
  } satisfies Partial<ContactsService["Service"]>
  return {
    fake,
    layer: Layer.merge(layerTestContacts(compares ? service : plain), RunLog.layerMemory()),
    status: (email: string): string | undefined => fake.of(email)?.contact.status
  }
}

describe("The warning of a column that says who wants mail", () => {
  it.effect("is given to programs, which import it as a field", () =>
    Effect.gen(function* () {
      const file = readContacts(Stream.make(new TextEncoder().encode("Email,opt_in\nann@example.com,no\n")))
      const { fake, layer } = withContacts(true)
      const reports = yield* Effect.all([
        Effect.map(Effect.scoped(planImport(file)), ({ summary }) => summary.warnings ?? []),
        Effect.map(importContacts(file), ({ warnings }) => warnings),
        Effect.map(addRows(file), ({ warnings }) => warnings)
      ]).pipe(Effect.provide(layer))
      const words = { no: "Unsubscribed" }
      for (const warnings of reports) {
        assert.deepStrictEqual(
          warnings.map(({ code, column, count, words }) => ({ code, column, count, words })),
          [{ code: "Consent", column: "opt_in", count: 1, words }]
        )
      }
      assert.deepInclude(fake.of("ann@example.com")?.contact.customFields, { opt_in: "no" })
    })
  )
})

describe("The warning that new contacts become Active", () => {
  const text = "Email,Status\nold@example.com,\nnew@example.com,\nsaid@example.com,Inactive\n"
  const file = readContacts(Stream.make(new TextEncoder().encode(text)))
  const counted = (warnings: ReadonlyArray<ImportWarning> = []) => warnings.map(({ code, count }) => [code, count])

  it.effect(
    "counts rows without a status, of a plan those of new contacts, and asks for none that the mode gives",
    () =>
      Effect.gen(function* () {
        const survey = yield* surveyContacts(file, { mapping: {} })
        assert.deepStrictEqual(counted(survey.warnings), [["Active", 2]])
        const plan = yield* makeImportPlan(file, survey)
        assert.deepStrictEqual(counted(plan.summary.warnings), [["Active", 1]])
        assert.deepStrictEqual(counted(yield* importWarnings(file, survey)), [["Active", 1]])
        const upload = yield* makeImport(file, survey)
        assert.deepStrictEqual(counted((yield* upload.report).warnings), [["Active", 2]])
        yield* upload.apply()
        const again = yield* makeImport(file, survey)
        yield* again.apply()
        assert.deepStrictEqual(counted((yield* again.report).warnings), [])
        assert.notProperty((yield* makeImportPlan(file, survey)).summary, "warnings")
        assert.deepStrictEqual(yield* importWarnings(file, survey), [])
        for (const mode of [{ defaultStatus: "Inactive" }, { only: "existing" }] as const) {
          assert.deepStrictEqual((yield* surveyContacts(file, { mapping: {}, ...mode })).warnings, [])
        }
        assert.deepStrictEqual((yield* surveyContacts(file)).warnings, [])
      }).pipe(Effect.scoped, Effect.provide(withContacts(true).layer))
  )
})

describe("A plan", () => {
  it.effect("shows which column becomes which field, and the first contacts as they would be stored", () =>
    Effect.gen(function* () {
      const text =
        "Mail;FirstName;DateAdded;town\nold@example.com;;;Bonn\nbad;;;\nnew@example.com;Cy;;\nGONE@example.com;Di;;\nx@example.com;;;\n"
      const mapping = { columns: { Mail: "Email" } }
      const file = readContacts(Stream.make(new TextEncoder().encode(text)), mapping)
      const survey = yield* surveyContacts(file)
      const plan = yield* makeImportPlan(file, survey, { mapping, defaultStatus: "Inactive", listNames: ["News"] })
      assert.deepStrictEqual(
        plan.summary.columns?.map(({ column, field }) => [column, field]),
        [
          ["Mail", "Email"],
          ["FirstName", "FirstName"],
          ["DateAdded", null],
          ["town", "CustomFields.town"]
        ]
      )
      assert.deepStrictEqual(
        plan.summary.firstContacts?.map(({ contact, line }) => [line, Struct.omit(contact, ["Email"])]),
        [
          [2, { Status: "Active", FirstName: "Before", "CustomFields.town": "Bonn", "Lists.news": "" }],
          [4, { Status: "Inactive", FirstName: "Cy", "Lists.news": "" }],
          [5, { Status: "Unsubscribed", FirstName: "Di", "Lists.news": "" }]
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(withContacts(true).layer))
  )
})

const addsUp = (report: RunReport) =>
  assert.strictEqual(
    report.done +
      report.leftOut +
      report.outdated +
      report.rejected +
      report.duplicates +
      report.notSent +
      report.unknown,
    report.read
  )

describe.each([true, false])("An import into a service that compares (%s)", (compares) => {
  const cases: ReadonlyArray<readonly [AddMode, Partial<RunReport>, ReadonlyArray<string | undefined>]> = [
    [{ only: "existing" }, { new: 0, changed: 2, leftOut: 2 }, ["Now", undefined, "Gone"]],
    [{ only: "new" }, { new: 2, changed: 0, leftOut: 2 }, ["Before", "New", undefined]],
    [{ defaultStatus: "NotConfirmed" }, { new: 2, changed: 2, leftOut: 0 }, ["Now", "New", "Gone"]]
  ]
  for (const [mode, counts, names] of cases) {
    it.effect(`does the same as its plan with ${JSON.stringify(mode)}, recorded or not`, () =>
      Effect.gen(function* () {
        for (const record of [true, false]) {
          const { fake, layer, status } = withContacts(compares)
          yield* Effect.gen(function* () {
            const { summary } = yield* planImport(rows, mode)
            const report = yield* importContacts(rows, { ...mode, record })
            assert.deepInclude(report, counts)
            addsUp(report)
            const { changed, leftOut = 0, new: added } = summary
            assert.deepStrictEqual(
              { new: added, changed, leftOut },
              { new: report.new, changed: report.changed, leftOut: report.leftOut }
            )
            assert.deepStrictEqual(
              ["old", "new", "gone"].map((name) => fake.of(`${name}@example.com`)?.contact.firstName),
              names
            )
            const isNew = mode.only !== "existing"
            assert.deepStrictEqual(
              [status("new@example.com"), status("said@example.com")],
              isNew ? [mode.defaultStatus ?? "Active", "Inactive"] : [undefined, undefined]
            )
            assert.deepStrictEqual([status("old@example.com"), status("gone@example.com")], ["Active", "Unsubscribed"])
            if (record) yield* undoRun(report.run ?? "")
            if (record) assert.deepStrictEqual([...fake.stored.keys()], ["old@example.com", "gone@example.com"])
          }).pipe(Effect.scoped, Effect.provide(layer))
        }
      })
    )
  }
})

describe("An import of new contacts only", () => {
  it.effect("leaves one that others add just before it is written", () => {
    const { fake, layer } = withContacts(true)
    return Effect.gen(function* () {
      fake.before(() => fake.put("new@example.com", { firstName: "Theirs" }))
      const report = yield* importContacts(rows, { only: "new" })
      assert.deepInclude(report, { new: 1, leftOut: 3 })
      assert.strictEqual(fake.of("new@example.com")?.contact.firstName, "Theirs")
    }).pipe(Effect.provide(layer))
  })

  it.effect("goes on after a lost answer in the same run, which an undo takes back", () => {
    const { fake } = withContacts(true)
    let isLost = true
    const lost = new ServiceError({
      operation: "contactsChangesPost",
      reason: new OutcomeUnknown({ recovery: "Look.", detail: "the connection closed" })
    })
    const losing = layerTestContacts({
      ...fake.service,
      change: (changes, options) => {
        if (options?.dryRun === true || !isLost) return fake.service.change(changes, options)
        isLost = false
        return Effect.andThen(fake.service.change(changes, options), lost)
      }
    })
    return Effect.gen(function* () {
      const first = yield* reportOf(importContacts(rows, { only: "new" }))
      addsUp(first)
      const second = yield* importContacts(rows, { only: "new" })
      assert.strictEqual(second.run, first.run)
      assert.deepInclude(second, { new: 0, leftOut: 4, unknown: 0, notSent: 0 })
      assert.deepInclude(yield* undoRun(first.run ?? ""), { deleted: 2, outdated: 0 })
      addsUp(second)
    }).pipe(Effect.provide(Layer.merge(losing, RunLog.layerMemory())))
  })

  it.effect("is refused to a key that may not read", () => {
    const { fake } = withContacts(true)
    const denied = new ServiceError({
      operation: "contactsChangesPost",
      reason: new AccessDenied({ required: "ViewContacts" })
    })
    const blind = layerTestContacts({ ...fake.service, change: () => denied, getMany: () => denied })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(importContacts(rows, { only: "new" }))
      if (error._tag !== "Stopped") return assert.fail(error._tag)
      assert.deepInclude(error.report, { done: 0, notSent: 4 })
      assert.strictEqual(error.reason._tag, "AccessDenied")
      assert.strictEqual(fake.stored.size, 2)
    }).pipe(Effect.provide(Layer.merge(blind, RunLog.layerMemory())))
  })
})

describe("Who will receive mail", () => {
  const mailed = ["Active", "Engaged", "Transactional"]
  const pairs = ContactStatus.literals.flatMap((before) =>
    ContactStatus.literals.map((given) => ({ email: `${before}-${given}@example.com`, before, given }))
  )
  const people = source(
    ...pairs.map(({ email, given }) => ({ email, status: given })),
    ...ContactStatus.literals.map((status) => ({ email: `new-${status}@example.com`, status })),
    { email: "said-nothing@example.com" }
  )

  it.effect.each([
    { compares: true, resubscribe: false },
    { compares: true, resubscribe: true },
    { compares: false, resubscribe: false },
    { compares: false, resubscribe: true }
  ])("is counted by plan, apply and import as it comes about: %o", ({ compares, resubscribe }) =>
    Effect.gen(function* () {
      for (const way of ["plan", "import"] as const) {
        const { fake, layer, status } = withContacts(compares)
        for (const { before, email } of pairs) fake.put(email, { status: before })
        const counts = yield* Effect.gen(function* () {
          if (way === "import") return [(yield* importContacts(people, { resubscribe })).newRecipients]
          const plan = yield* planImport(people, { resubscribe })
          return [plan.summary.newRecipients, (yield* plan.apply).report.newRecipients]
        }).pipe(Effect.scoped, Effect.provide(layer))
        const gains = pairs.filter(
          ({ before, email }) => !mailed.includes(before) && mailed.includes(status(email) ?? "")
        ).length
        // Of the new ones the three that say so, and the one that says nothing.
        for (const count of counts) assert.deepStrictEqual(count, { people: gains + 4, added: 4 })
      }
    })
  )

  it.effect("is not said where nobody looked at what was there", () =>
    Effect.gen(function* () {
      const report = yield* importContacts(people, { record: false })
      assert.notProperty(report, "newRecipients")
      assert.deepStrictEqual(recipientWords(report, true), [])
    }).pipe(Effect.provide(withContacts(true).layer))
  )
})
