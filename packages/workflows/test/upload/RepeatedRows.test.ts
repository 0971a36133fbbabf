import { assert, describe, it } from "@effect/vitest"
import { layerTestContacts, type OnDuplicate, readContacts } from "@roster/domain"
import { contactOf } from "@roster/domain/internal"
import { Effect, Layer, Result, Stream } from "effect"
import { addRows, duplicatesFile, makeImportPlan, makeImport, RunLog, surveyContacts } from "../../src/index.ts"
import { mergeRows, pairsOfRows } from "../../src/upload/RepeatedRows.ts"
import { makeFake } from "../changes/fakeContacts.ts"

/** Rows of several lines and blank ones between them, so that lines are no numbers of rows. */
const usual =
  'Email,note\n\nann@example.com,1\nbob@example.com,2\nANN@example.com,"3\n4"\n\nnot an address,5\ncem@example.com,6\nann@example.com,=7\nbob@example.com,8\n'
const rowsOf = (text: string) => readContacts(Stream.make(new TextEncoder().encode(text)))
const file = rowsOf(usual)

/** What is stored of the file, and what the report says. */
const imported = Effect.fnUntraced(function* (onDuplicate: OnDuplicate | undefined, text = usual) {
  const rows = rowsOf(text)
  const fake = makeFake()
  const layer = Layer.merge(layerTestContacts(fake.service), RunLog.layerMemory())
  return yield* Effect.gen(function* () {
    const survey = yield* surveyContacts(rows, { onDuplicate })
    const { summary } = yield* makeImportPlan(rows, survey)
    const upload = yield* makeImport(rows, survey)
    yield* upload.apply()
    const rejected = yield* Stream.runCollect(upload.rejected)
    const report = yield* upload.report
    const note = (email: string): string | undefined => fake.of(email)?.contact.customFields?.["note"]
    return {
      fake,
      survey,
      summary,
      report,
      rejected,
      notes: ["ann", "bob", "cem"].map((name) => note(`${name}@example.com`))
    }
  }).pipe(Effect.scoped, Effect.provide(layer))
})

const linesOf = (rows: ReadonlyArray<{ readonly line: number }>) => rows.map(({ line }) => line)

describe("Rows with the address of another", () => {
  it.effect.each<readonly [OnDuplicate | undefined, Array<string>]>([
    [undefined, ["=7", "8", "6"]],
    ["last", ["=7", "8", "6"]],
    ["first", ["1", "2", "6"]]
  ])("are merged into the last by %s, which the report names", ([onDuplicate, notes]) =>
    Effect.gen(function* () {
      const pairs = [
        [3, 10],
        [4, 11],
        [5, 10]
      ] as const
      const found = yield* imported(onDuplicate)
      assert.deepStrictEqual(found.notes, notes)
      const expected = pairs.map(([line, winner]) => ({ line, winner }))
      for (const { duplicateRows, duplicates } of [found.report, found.summary]) {
        assert.deepStrictEqual([duplicates, duplicateRows], [3, expected])
      }
      assert.deepStrictEqual(linesOf(found.rejected), [8])
      const { header, otherLine } = found.survey
      assert.isDefined(header)
      const content = yield* Stream.mkString(Stream.decodeText(duplicatesFile(file, { header, otherLine })))
      const records = yield* Stream.runCollect(
        readContacts(Stream.make(new TextEncoder().encode(content)), { columns: { Line: "l", WinnerLine: "w" } })
      )
      assert.deepStrictEqual(
        records.map(({ cells }) => cells.slice(0, 2)),
        pairs.map((pair) => pair.map(String))
      )
      assert.include(content, '5,10,ANN@example.com,"3\n4"\r\n')
    })
  )

  it.effect("are all rejected if none may be chosen, each with the line of another", () =>
    Effect.gen(function* () {
      const { notes, rejected, report, summary } = yield* imported("reject")
      assert.deepStrictEqual(notes, [undefined, undefined, "6"])
      for (const found of [report, summary]) {
        assert.deepStrictEqual([found.read, found.rejected, found.duplicates, found.new], [7, 6, 0, 1])
        assert.deepStrictEqual(linesOf(found.rejectedRows), [3, 4, 5, 8, 10, 11])
        const named = {
          line: 3,
          code: "Duplicate",
          column: "Email",
          value: "ann@example.com",
          email: "ann@example.com"
        }
        assert.deepInclude(found.rejectedRows[0], named)
        assert.deepStrictEqual(
          found.causes?.map(({ code, count, values }) => [code, count, values.map(({ count }) => count)]),
          [
            ["Duplicate", 5, [2, 2, 1]],
            ["Address", 1, [1]]
          ]
        )
      }
      assert.deepStrictEqual(
        rejected.map(({ cells, line, reason }) => [line, cells[1], /line (\d+)/.exec(reason)?.[1]]),
        [
          [3, "1", "10"],
          [4, "2", "11"],
          [5, "3\n4", "10"],
          [8, "5", undefined],
          [10, "=7", "5"],
          [11, "8", "4"]
        ]
      )
    })
  )

  it.effect.each([
    ["last", "Unsubscribed", "Ann", "A-2"],
    ["first", "Unsubscribed", "Ann", "A-1"],
    ["reject", undefined, undefined, undefined]
  ] as const)("give their strictest status, and field by field what %s says", ([onDuplicate, status, name, order]) =>
    Effect.gen(function* () {
      const text =
        "Email,Status,FirstName,Phone,Order\nann@example.com,Unsubscribed,Ann,1,A-1\nann@example.com,Active,,,A-2\nbob@example.com,Active,,,\n"
      const { fake, report } = yield* imported(onDuplicate, text)
      const contact = fake.of("ann@example.com")?.contact
      assert.deepStrictEqual(
        [contact?.status, contact?.firstName, contact?.customFields?.["Order"]],
        [status, name, order]
      )
      assert.strictEqual(contact?.customFields?.["Phone"], onDuplicate === "reject" ? undefined : "1")
      assert.deepStrictEqual(
        report.warnings.map(({ code, count, examples }) => [code, count, examples]),
        onDuplicate === "reject"
          ? [["OptOut", 1, [{ line: 2, value: "ann@example.com" }]]]
          : [["Statuses", 1, [{ line: 3, value: "ann@example.com" }]]]
      )
    })
  )

  it.effect(
    "are all sent by addRows, each with the strictest status up to it, or with the last if it resubscribes",
    () =>
      Effect.gen(function* () {
        const statuses = ["Active", "Unsubscribed", "Active", "", "Abuse", "Bounced", "Inactive"]
        const rows = rowsOf(["Email,Status", ...statuses.map((status) => `ann@example.com,${status}`)].join("\n"))
        const { service } = makeFake()
        const sent = Effect.fnUntraced(function* (resubscribe: boolean) {
          const all: Array<string | undefined> = []
          const addWithoutAnswer: typeof service.addWithoutAnswer = (contacts) => {
            for (const { status } of contacts) all.push(status)
            return Effect.succeed({ keptStatuses: [] })
          }
          yield* Effect.provide(addRows(rows, { resubscribe }), layerTestContacts({ ...service, addWithoutAnswer }))
          return all
        })
        const strictest = ["Active", "Unsubscribed", "Unsubscribed", undefined, "Abuse", "Abuse", "Abuse"]
        assert.deepStrictEqual(yield* sent(false), strictest)
        assert.deepStrictEqual(
          yield* sent(true),
          strictest.map((status, row) => (row === 2 ? "Active" : status))
        )
      })
  )

  it.effect("are rejected one by one where they would make the contact too large, whichever they are", () =>
    Effect.gen(function* () {
      const long = "x".repeat(20_000)
      const cells = ["ann,,,1", `ann,${long},,`, `ann,,${long},`, "ann,,,2", `bob,${long},,`, `bob,,${long},3`]
      const text = ["Email,a,b,c", ...cells].join("\n").replaceAll(/(ann|bob)/g, "$1@example.com")
      const { fake, rejected, report, summary } = yield* imported("last", text)
      assert.deepStrictEqual(linesOf(rejected), [4, 7])
      assert.include(rejected[0]?.reason, "together with earlier rows of its address")
      for (const found of [report, summary]) {
        assert.deepInclude(found, { read: 6, new: 2, rejected: 2, duplicates: 2 })
        assert.deepStrictEqual(found.duplicateRows, [
          { line: 2, winner: 5 },
          { line: 3, winner: 5 }
        ])
      }
      const fieldsOf = (email: string) => fake.of(email)?.contact.customFields
      assert.deepStrictEqual(fieldsOf("ann@example.com"), { a: long, c: "2" })
      assert.deepStrictEqual(fieldsOf("bob@example.com"), { a: long })
    })
  )

  it.effect("are merged alike however few of them fit into memory", () =>
    Effect.gen(function* () {
      const count = 300
      // Some groups lie side by side, and some as far from each other as the file is long.
      const address = (row: number) => (row % 3 === 0 ? row % 2 : Math.min(row, count - row))
      const cells = Array.from({ length: count }, (_, row) => `p${address(row)}@example.com,${row},f${row % 4}`)
      const rows = rowsOf(`Email,Row,f\n${cells.join("\n")}`)
      const last = new Map(cells.map((_, row) => [address(row), row + 1]))
      const pairs = pairsOfRows(
        cells.flatMap((_, row) => {
          const other = last.get(address(row)) ?? 0
          return other === row + 1 ? [] : [[row + 1, other] as const]
        })
      )
      let reads = 0
      const read = Stream.unwrap(
        Effect.sync(() => {
          reads++
          return rows
        })
      )
      const merged = (maximumBytes?: number) =>
        Effect.map(Stream.runCollect(mergeRows(read, { lastOf: pairs.otherOf }, maximumBytes)), (all) =>
          all.map((row) => [row.line, Result.getOrThrow(contactOf(row))])
        )
      const expected = yield* merged()
      assert.strictEqual(reads, 1)
      assert.lengthOf(expected, count)
      assert.deepStrictEqual(yield* merged(20_000), expected)
      assert.isAbove(reads, 3)
    })
  )

  it.effect("are another import if another row is chosen, so that no run goes on with other rows", () =>
    Effect.gen(function* () {
      const log = yield* RunLog
      const opened: Array<unknown> = []
      const open: typeof log.open = (given) => {
        opened.push(given.input)
        return log.open(given)
      }
      for (const onDuplicate of ["last", "first", "reject"] as const) {
        const survey = yield* surveyContacts(file, { onDuplicate })
        yield* Effect.provideService(makeImport(file, survey, { source: "file" }), RunLog, { ...log, open })
      }
      assert.strictEqual(new Set(opened.map((input) => JSON.stringify(input))).size, 3)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(layerTestContacts(makeFake().service), RunLog.layerMemory())))
  )
})
