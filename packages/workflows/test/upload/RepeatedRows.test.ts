import { assert, describe, it } from "@effect/vitest"
import { layerTestContacts, readContacts } from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import {
  duplicatesFile,
  makeImportPlan,
  makeImport,
  type OnDuplicate,
  RunLog,
  surveyContacts
} from "../../src/index.ts"
import { makeFake } from "../changes/fakeContacts.ts"

/** Rows of several lines and blank ones between them, so that lines are no numbers of rows. */
const text =
  'Email,note\n\nann@example.com,1\nbob@example.com,2\nANN@example.com,"3\n4"\n\nnot an address,5\ncem@example.com,6\nann@example.com,=7\nbob@example.com,8\n'
const file = readContacts(Stream.make(new TextEncoder().encode(text)))

/** What is stored of the file, and what the report says. */
const imported = Effect.fnUntraced(function* (onDuplicate: OnDuplicate | undefined) {
  const fake = makeFake()
  const layer = Layer.merge(layerTestContacts(fake.service), RunLog.layerMemory())
  return yield* Effect.gen(function* () {
    const survey = yield* surveyContacts(file, { onDuplicate })
    const { summary } = yield* makeImportPlan(file, survey)
    const upload = yield* makeImport(file, survey)
    yield* upload.apply()
    const rejected = yield* Stream.runCollect(upload.rejected)
    const report = yield* upload.report
    const note = (email: string): string | undefined => fake.of(email)?.contact.customFields?.["note"]
    return {
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
  it.effect.each<readonly [OnDuplicate | undefined, Array<string>, ReadonlyArray<readonly [number, number]>]>([
    [
      undefined,
      ["=7", "8", "6"],
      [
        [3, 10],
        [4, 11],
        [5, 10]
      ]
    ],
    [
      "last",
      ["=7", "8", "6"],
      [
        [3, 10],
        [4, 11],
        [5, 10]
      ]
    ],
    [
      "first",
      ["1", "2", "6"],
      [
        [5, 3],
        [10, 3],
        [11, 4]
      ]
    ]
  ])("are left out for the one that %s says, which the report names", ([onDuplicate, notes, pairs]) =>
    Effect.gen(function* () {
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
      assert.include(
        content,
        onDuplicate === "first" ? "10,3,ann@example.com,'=7\r\n" : '5,10,ANN@example.com,"3\n4"\r\n'
      )
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
          [3, "1", "5"],
          [4, "2", "11"],
          [5, "3\n4", "3"],
          [8, "5", undefined],
          [10, "=7", "3"],
          [11, "8", "4"]
        ]
      )
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
