import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { slipOf } from "../../src/values/DidYouMean.ts"

const Letter = Schema.Literals(["a", "B", "é", "ß", "ж", "-"])
const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
const name = Arbitrary.map(
  Arbitrary.schema(Schema.Array(Letter).check(Schema.isMinLength(4), Schema.isMaxLength(8))),
  (letters) => `x${letters.join("")}y`
)

/** A name with one letter put in, left out or replaced, or with two letters swapped. */
const slips = (name: string, at: number): ReadonlyArray<string> => {
  const letters = [...name]
  const [one = "", other = ""] = letters.slice(at + 1, at + 3)
  return [
    letters.toSpliced(at, 0, "z").join(""),
    letters.toSpliced(at, 1).join(""),
    letters.with(at, "z").join(""),
    letters.toSpliced(at + 1, 2, other, one).join("")
  ]
}

const isSame = (one: string, other: string) => one.trim().toLowerCase() === other.trim().toLowerCase()

describe("a slip of a name", () => {
  it.prop("is one letter or two swapped ones away", [name, Arbitrary.schema(Place)], ([name, at]) => {
    for (const slip of slips(name, at)) {
      assert.strictEqual(slipOf(slip, ["other names", name]), isSame(slip, name) ? undefined : name, slip)
    }
    for (const slip of slips(`${name}qq`, at)) assert.isUndefined(slipOf(slip, [name]), slip)
  })

  it.prop("is not another number", [name, Arbitrary.schema(Place)], ([name, at]) => {
    for (const [one, other] of [
      [`${name} 1`, `${name} 2`],
      [name, `${name}2`],
      [`${name}1`, `${name}12`],
      [`${at}${name}`, `9${name}`]
    ] as const) {
      assert.isUndefined(slipOf(one, [other]))
      assert.isUndefined(slipOf(other, [one]))
    }
  })

  it("is not the name in another letter case, nor a name of one or two letters", () => {
    for (const [one, other] of [
      ["ORT", "Ort"],
      ["ID", "IP"],
      ["a", "b"]
    ] as const)
      assert.isUndefined(slipOf(one, [other]))
    for (const slip of ["Otr", "Orrt", "Or", "Ert"]) assert.strictEqual(slipOf(slip, ["Email", "Ort"]), "Ort")
  })
})
