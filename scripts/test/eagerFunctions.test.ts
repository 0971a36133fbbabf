import { assert, describe, it } from "@effect/vitest"
import { runInNewContext } from "node:vm"
import { parenthesized } from "../eagerFunctions.ts"

const code = [
  'import { a } from "./a.js"',
  "const said = [first(1)]",
  "const twice = (value) => [value, value].map((one) => one * 2), never = () => 0",
  "function first(value) { return twice => twice(value) }",
  "async function second() { return never() }",
  "class Third { method() { return [1].map(function (one) { return one }) } }",
  "export { twice }"
].join("\n")

const at = (...beginnings: ReadonlyArray<string>) => new Set(beginnings.map((text) => code.indexOf(text)))

describe("functions that a start calls, in the bundle", () => {
  const written = parenthesized(
    code,
    at("(value) =>", "(one)", "function first", "twice => twice", "method()", "function (one)")
  )

  it("are put in parentheses, wherever the syntax allows it", () => {
    assert.include(written, "twice = ((value) => [value, value].map(((one) => one * 2)))")
    assert.include(written, "never = () => 0")
    assert.include(written, "return (twice => twice(value))")
    assert.include(written, "class Third { method() { return [1].map((function (one) { return one })) } }")
    assert.include(written, "\nasync function second()")
  })

  it("are defined as early as before, and the program still works", () => {
    const script = written
      .replace(/^import.*?;?(?=var)/s, "")
      .replace("export { twice }", "[said[0]((one) => one + 1), twice(2)]")
    assert.deepStrictEqual(JSON.stringify(runInNewContext(script)), "[2,[4,4]]")
  })
})
