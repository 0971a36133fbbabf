import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { countExported, type CsvShape, shapedCsv } from "../../src/index.ts"

const csv = 'Email,FirstName,City\r\nann@x.com,"Ann ""A""\nB",Köln\r\nbob@x.com,\'=1+1,\r\n'
const json = '[{"Email":"a","CustomFields":{"x":"}{\\"[,"}},\n{"Email":"b"}]'

const inPieces = (text: string, size: number): Stream.Stream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  return Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.slice(index * size, (index + 1) * size))
  )
}

const textOf = <E>(content: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(content))

const shaped = (shape: CsvShape) => textOf(shapedCsv(inPieces(csv, 7), shape))

describe("an exported file", () => {
  it.effect("has as many contacts as are counted, however its bytes come", () =>
    Effect.gen(function* () {
      const files = [
        ["Csv", csv, 2],
        ["Csv", csv.trimEnd(), 2],
        ["Csv", "Email\r\n", 0],
        ["Csv", "", 0],
        ["Json", json, 2],
        ["Json", "[]", 0]
      ] as const
      for (const [format, text, count] of files) {
        for (const size of [1, 5, 1000]) {
          const counter = countExported(format)
          assert.strictEqual(yield* textOf(counter.through(inPieces(text, size))), text)
          assert.strictEqual(counter.count(), count, `${format} ${text}`)
        }
      }
    })
  )

  it.effect("gets the columns, the delimiter and the mark that are asked for", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* shaped({}), csv)
      assert.strictEqual(
        yield* shaped({ columns: ["city", "Email"], delimiter: ";" }),
        "City;Email\r\nKöln;ann@x.com\r\n;bob@x.com\r\n"
      )
      const [first] = yield* Stream.runCollect(shapedCsv(inPieces(csv, 1000), { bom: true }))
      assert.deepStrictEqual([...(first ?? [])].slice(0, 3), [0xef, 0xbb, 0xbf])
      assert.include(yield* shaped({ keepsFormulas: true }), "\r\nbob@x.com,=1+1,\r\n")
      const error = yield* Effect.flip(shaped({ columns: ["Email", "Citty"] }))
      assert.deepInclude(error, { _tag: "InvalidInput", issue: 'no contact has Citty (did you mean "City"?)' })
      assert.strictEqual(
        yield* shaped({ columns: ["Citty", "Email"], allowsAbsent: true }),
        "Citty,Email\r\n,ann@x.com\r\n,bob@x.com\r\n"
      )
    })
  )
})
