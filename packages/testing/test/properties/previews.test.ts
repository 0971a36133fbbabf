/**
 * A preview is the same program: the dry run, the plan that is applied, the upload and the import of the service reject the same
 * rows of a file in the same words, so that a person who looked before has seen what happens.
 */
import { assert, layer } from "@effect/vitest"
import {
  AccountService,
  ContactFilter,
  ContactSize,
  ContactsService,
  EmailAddress,
  readContacts,
  RuleText
} from "@roster/domain"
import { importContacts, planImport, surveyContacts } from "@roster/workflows"
import { Effect, Schema, Stream, Struct } from "effect"
import { file, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { layerMemory, withRuns } from "../../src/layers/ServiceLayers.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"

const { maximumContactBytes, maximumCustomFieldName, maximumCustomFields } = ContactSize

/** Headings, each with whether its column holds texts of any length. */
const headings = {
  City: "City",
  longest: "n".repeat(maximumCustomFieldName),
  tooLong: "Which of these describes you best? ".repeat(6),
  FirstName: "FirstName",
  ConsentIP: "ConsentIP",
  Status: "Status"
}

/** Texts of cells, some of which no contact has. */
const cells = {
  empty: "",
  text: "Ulm",
  status: "Active",
  word: "gone",
  nul: "a\0b",
  half: "x".repeat(maximumContactBytes / 2),
  full: "x".repeat(maximumContactBytes),
  marks: '""'.repeat(maximumContactBytes / 8),
  spaced: "  Ulm  "
}

const Columns = Schema.Array(Schema.Literals(Struct.keys(headings))).check(Schema.isMaxLength(3), Schema.isUnique())
const Row = Schema.Struct({
  email: Schema.Literals(["ann@example.com", "bob@example.com", "carl@", ""]),
  cells: Schema.Array(Schema.Literals(Struct.keys(cells))).check(Schema.isMinLength(3), Schema.isMaxLength(3)),
  isShort: Schema.Literals([false, false, false, true])
})
type Row = typeof Row.Type

const textOf = (columns: typeof Columns.Type, rows: ReadonlyArray<Row>): string => {
  const quoted = (text: string) => `"${text}"`
  const header = ["Email", ...columns.map((column) => headings[column])]
  const lines = rows.map((row) => [row.email, ...columns.map((_, at) => cells[row.cells[at] ?? "empty"])])
  return [header, ...lines]
    .map((line, at) =>
      line
        .slice(rows[at - 1]?.isShort === true ? 1 : 0)
        .map(quoted)
        .join(",")
    )
    .join("\n")
}

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })

layer(withRuns(layerMemory))("a preview", (it) => {
  it.effect.prop(
    "rejects the rows that the run rejects, in the same words, by every way in",
    [Columns, Schema.NonEmptyArray(Row).check(Schema.isMaxLength(5)), Schema.Literals(["nothing", "half", "many"])],
    ([columns, rows, stored]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const text = textOf(columns, rows)
        const read = () => readContacts(Stream.make(utf8(text)))
        const begin = Effect.gen(function* () {
          yield* contacts.deleteMany(everyone)
          const customFields =
            stored === "half"
              ? { note: cells.half }
              : Object.fromEntries(Array.from({ length: maximumCustomFields }, (_, at) => [`field ${at}`, "x"]))
          if (stored !== "nothing") yield* contacts.add([{ email: EmailAddress.make("ann@example.com"), customFields }])
        })
        const said = (of: {
          readonly rejectedRows: ReadonlyArray<{ readonly line: number; readonly reason: string }>
        }) => of.rejectedRows.map(({ line, reason }) => `${line}: ${reason}`)

        yield* begin
        const run = said(yield* importContacts(read()))
        yield* begin
        const [plan, applied] = yield* Effect.scoped(
          Effect.flatMap(planImport(read()), ({ apply, summary }) =>
            Effect.map(apply, ({ report }) => [said(summary), said(report)] as const)
          )
        )
        assert.deepStrictEqual(plan, run, "plan")
        assert.deepStrictEqual(applied, [], "what the plan said is taken")
        if (stored === "nothing") assert.deepStrictEqual(said(yield* surveyContacts(read())), run, "survey")
        yield* begin
        const account = yield* AccountService
        yield* contacts.import(file(utf8(text)))
        const [job] = yield* account.jobs({ limit: 1 })
        // The service writes row after row, so that rows of one address are refused one by one.
        const isDistinct = new Set(rows.map(({ email }) => email)).size === rows.length
        if (isDistinct) assert.strictEqual(job?.rejected, run.length, "service")
      }),
    {
      arbitrary: { runs: amount({ ci: 60, long: 3000 }), seed: runSeed("previews"), size: 20 },
      timeout: amount({ ci: 120_000, long: 3_600_000 })
    }
  )
})
