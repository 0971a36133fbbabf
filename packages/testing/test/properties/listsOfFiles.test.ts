/**
 * A file says on which lists its contacts are: exported with them and imported elsewhere, by the service or by a program, at a
 * service of ours or another, everybody is on the same lists, and undo takes them off.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  ContactFilter,
  ContactsService,
  ListsService,
  ListsText,
  NamedRun,
  readContacts,
  RunsService
} from "@roster/domain"
import {
  addRows,
  exportTo,
  importContacts,
  makeImportPlan,
  planImport,
  surveyContacts,
  undoRun
} from "@roster/workflows"
import { Arbitrary, Effect, Layer, Schema, Stream } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { file } from "../../src/conformance/jobs/Importing.ts"
import { layerMemory, withRuns } from "../../src/layers/ServiceLayers.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { foreign, noSuchPath } from "../conformance/ForeignService.ts"

const layerOf = () => withRuns(Layer.fresh(layerMemory))

/** The lists of everybody who is on one, by their names. */
const members = Effect.gen(function* () {
  const lists = yield* ListsService
  const all: Record<string, ReadonlyArray<string>> = {}
  for (const { listName } of yield* lists.list({ limit: 1000 })) {
    const on = yield* lists.contacts(listName, { limit: 1000 })
    if (on.length > 0) all[listName] = on.map(({ email }) => String(email)).toSorted()
  }
  return all
})

const bytes = (text: string) => Stream.make(new TextEncoder().encode(text))

const text = `Email,FirstName,Lists
ann@example.com,Ann,News; Customers
bob@example.com,Bob,News
cy@example.com,Cy,
ann@example.com,Ann,"A\\;B"
`

/** The rows of one address together name these. */
const expected = {
  "A;B": ["ann@example.com"],
  Customers: ["ann@example.com"],
  News: ["ann@example.com", "bob@example.com"]
}

const services = [
  ["at a service of ours", layerOf],
  ["at another service", () => withRuns(Layer.fresh(foreign(noSuchPath)))]
] as const

describe.each(services)("lists of a file, %s", (_, layer) => {
  it.effect("are what a plan says, and undo takes everybody off", () =>
    Effect.gen(function* () {
      const plan = yield* planImport(readContacts(bytes(text)))
      assert.deepStrictEqual(yield* members, {})
      const { report, undo } = yield* plan.apply
      assert.strictEqual(report.done, 3)
      assert.deepStrictEqual(yield* members, expected)
      yield* undo
      assert.deepStrictEqual(yield* members, {})
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("are those of an import, beside the lists of all rows", () =>
    Effect.gen(function* () {
      const { run = "" } = yield* importContacts(readContacts(bytes(text)), { listNames: ["All"] })
      const all = ["ann@example.com", "bob@example.com", "cy@example.com"]
      assert.deepStrictEqual(yield* members, { ...expected, All: all })
      yield* undoRun(run)
      assert.deepStrictEqual(yield* members, {})
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are those of rows that are added unread", () =>
    Effect.gen(function* () {
      yield* addRows(readContacts(bytes(text)))
      assert.deepStrictEqual(yield* members, expected)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("reject the row where they cannot be, and leave it out elsewhere", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 101 }, (_, index) => `L${index}`).join(";")
      const rows = readContacts(
        bytes(`Email,Lists\nann@example.com,${many}\nbob@example.com,${"x".repeat(255)}\ncy@example.com,News\n`)
      )
      const survey = yield* surveyContacts(rows)
      assert.strictEqual(survey.rejected, 2)
      assert.match(survey.rejectedRows[0]?.reason ?? "", /^Lists: 101 lists/)
      const plan = yield* makeImportPlan(rows, survey)
      yield* plan.apply
      assert.deepStrictEqual(yield* members, { News: ["cy@example.com"] })
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})

describe("lists of a file that the service imports", () => {
  it.effect("are those of its rows, are in the run of the import, and go by its undo", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const runs = yield* RunsService
      const lists = yield* ListsService
      yield* lists.create({ listName: "All" })
      const { id } = yield* runs.begin({ command: "import" })
      const importing = contacts.import(file(new TextEncoder().encode(text)), { listName: "All" })
      yield* Effect.provideService(importing, NamedRun, id)
      const all = ["ann@example.com", "bob@example.com", "cy@example.com"]
      yield* eventually(members, (now) => Object.keys(now).length === 4)
      assert.deepStrictEqual(yield* members, { ...expected, All: all })
      yield* eventually(runs.get(id), (run) => run.changes === 3)
      yield* runs.end(id)
      yield* undoRun(id)
      assert.deepStrictEqual(yield* members, {})
    }).pipe(Effect.provide(layerOf()))
  )

  it.effect("reject their rows where the account has no room for them", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const names = (from: number) => Array.from({ length: 100 }, (_, index) => `L${from + index}`)
      for (let from = 0; from < 1000; from += 100) {
        yield* contacts.add([{ email: "all@example.com".replace("all", `all${from}`) }], { listNames: names(from) })
      }
      const content = "Email,Lists\nann@example.com,l7\nbob@example.com,New; L8\ncy@example.com,\n"
      yield* contacts.import(file(new TextEncoder().encode(content)))
      const found = yield* eventually(contacts.getMany(["cy@example.com"]), ({ contacts }) => contacts.length > 0)
      assert.strictEqual(found.contacts.length, 1)
      const { contacts: made } = yield* contacts.getMany(["ann@example.com", "bob@example.com"], { lists: true })
      assert.deepStrictEqual(
        made.map(({ email, lists }) => [email, lists]),
        [["ann@example.com", ["L7"]]]
      )
    }).pipe(Effect.provide(layerOf()))
  )
})

const sign = Arbitrary.schema(Schema.Literals(["a", "B", ";", "\\", " ", ",", '"', "'", "=", "+", "é", "\u{1f600}"]))
const name = Arbitrary.array(sign, { minLength: 1, maxLength: 5 })

describe("an export with lists", () => {
  it.effect.prop(
    "imported elsewhere puts everybody on the same lists",
    [Arbitrary.array(Arbitrary.array(name, { maxLength: 4 }), { minLength: 1, maxLength: 12 })],
    ([given]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const lists = yield* ListsService
        for (const [index, names] of given.entries()) {
          const listNames = names.map((signs) => signs.join("")).filter(ListsText.isListName)
          yield* contacts.add([{ email: `p${index}@example.com` }], { listNames })
        }
        const before = yield* members
        const parts: Array<Uint8Array> = []
        yield* exportTo({ lists: true }, (content) =>
          Stream.runForEach(content, (part) => Effect.sync(() => parts.push(part)))
        )
        const empty = Effect.gen(function* () {
          yield* contacts.deleteMany(ContactFilter.ByRule({ rule: "All" }))
          for (const { listName } of yield* lists.list({ limit: 1000 })) yield* lists.delete(listName)
        })
        yield* empty
        yield* importContacts(readContacts(Stream.fromIterable(parts)))
        assert.deepStrictEqual(yield* members, before)
        yield* empty
        yield* contacts.import(file(Buffer.concat(parts)))
        yield* eventually(contacts.count(), ({ count }) => count === given.length)
        yield* eventually(members, (now) => JSON.stringify(now) === JSON.stringify(before))
        assert.deepStrictEqual(yield* members, before)
      }).pipe(Effect.provide(layerOf())),
    { arbitrary: { runs: amount({ ci: 8, long: 500 }), seed: runSeed("lists of files"), size: 100 }, timeout: 120_000 }
  )
})
