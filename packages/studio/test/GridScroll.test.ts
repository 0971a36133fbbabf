import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as GridScroll from "../src/grid/GridScroll.ts"

const between = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

describe("the rows that a grid shows", () => {
  it.prop(
    "are those of the place that it is scrolled to, at any number of rows",
    { total: between(0, 3_000_000), height: between(40, 2000), share: between(0, 1000) },
    ({ height, share, total }) => {
      const viewed = { total, height }
      const first = Math.round((GridScroll.lastFirst(viewed) * share) / 1000)
      const back = GridScroll.firstRow(viewed, GridScroll.scrollTop(viewed, first))
      assert.approximately(back, first, 0.01)
      assert.isAtMost(GridScroll.scrollHeight(viewed), GridScroll.maximumHeight)
    }
  )

  it("reach the last of a million by the scroll bar and by a key", () => {
    const viewed = { total: 1_000_000, height: 660 }
    const end = GridScroll.firstRow(viewed, GridScroll.scrollHeight(viewed) - viewed.height)
    assert.strictEqual(end + GridScroll.fitting(viewed), 1_000_000)
    const row = GridScroll.rowAfterKey(viewed, 0, "End") ?? -1
    assert.strictEqual(row, 999_999)
    assert.strictEqual(GridScroll.firstToSee(viewed, 0, row), 999_980)
  })

  it("stay where they are for a row that is seen", () => {
    const viewed = { total: 100, height: 330 }
    assert.strictEqual(GridScroll.firstToSee(viewed, 20, 25), 20)
    assert.strictEqual(GridScroll.firstToSee(viewed, 20, 30), 21)
    assert.strictEqual(GridScroll.firstToSee(viewed, 20, 3), 3)
    assert.isUndefined(GridScroll.rowAfterKey(viewed, 3, "a"))
  })
})
