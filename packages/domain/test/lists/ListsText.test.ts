import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { isListName, readLists, writeLists } from "../../src/lists/ListsText.ts"
import { foldName } from "../../src/values/FieldNames.ts"

const read = (text: string) => Result.getOrThrow(readLists(text))

const sign = Arbitrary.schema(
  Schema.Literals(["a", "B", ";", "\\", " ", "\u00a0", ",", '"', "'", "=", "é", "\u{1f600}", "|", "-"])
)

describe("lists in one text", () => {
  it("stand between semicolons or line breaks", () => {
    assert.deepStrictEqual(read("News; Customers;Berlin, Köln"), ["News", "Customers", "Berlin, Köln"])
    assert.deepStrictEqual(read(" News \r\nCustomers\n"), ["News", "Customers"])
    assert.deepStrictEqual(read(""), [])
    assert.deepStrictEqual(read(" ;; "), [])
  })

  it("have their signs behind a backslash", () => {
    assert.strictEqual(writeLists(["a;b", " c ", "d\\"]), String.raw`a\;b; \ c\ ; d\\`)
    assert.deepStrictEqual(read(String.raw`a\;b; \ c\ ; d\\`), ["a;b", " c ", "d\\"])
    assert.deepStrictEqual(read("a\\"), ["a\\"])
  })

  it("are named once, whatever the case of their letters", () => {
    assert.deepStrictEqual(read("News; NEWS; news"), ["News"])
  })

  it("are refused as the service refuses them", () => {
    assert.isTrue(Result.isFailure(readLists("a\tb")))
    assert.isTrue(Result.isFailure(readLists(String.raw`a;\ `)))
    assert.isTrue(Result.isFailure(readLists("x".repeat(255))))
    assert.isTrue(Result.isSuccess(readLists("x".repeat(254))))
    const names = (count: number) => Array.from({ length: count }, (_, index) => `L${index}`).join(";")
    assert.isTrue(Result.isSuccess(readLists(names(100))))
    assert.isTrue(Result.isFailure(readLists(names(101))))
  })

  it.prop(
    "come back, whatever they are called",
    { names: Arbitrary.array(Arbitrary.array(sign, { minLength: 1, maxLength: 6 }), { maxLength: 5 }) },
    ({ names }) => {
      const folded = new Map(
        names
          .map((signs) => signs.join(""))
          .filter(isListName)
          .toReversed()
          .map((name) => [foldName(name), name])
      )
      const lists = [...folded.values()].toReversed()
      assert.deepStrictEqual([...read(writeLists(lists))], lists)
    },
    { arbitrary: { runs: 1000 } }
  )
})
