import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { checkJson, maximumDepth, maximumEscapes } from "../../src/values/StrictJson.ts"

const checked = (text: string, maximumValues: number) => {
  const steps = checkJson(text, maximumValues)
  for (let pauses = 0; ; pauses++) {
    const step = steps.next()
    if (step.done === true) return { ...step.value, pauses }
  }
}
const jsonIssue = (text: string, maximumValues: number) => checked(text, maximumValues).issue

const twice = /^an object gives a name twice, the second time at character (\d+)$/

/** The character at which a name is said to stand twice. */
const repeatedAt = (text: string): number | undefined => {
  const issue = jsonIssue(text, 10_000)
  return issue === undefined ? undefined : Number(twice.exec(issue)?.[1])
}

const escaped = (text: string): string =>
  text.replaceAll(/[^]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)

const letters = [
  "a",
  "b",
  '"',
  "\\",
  'a"',
  "a\\",
  "{",
  "}",
  ",",
  ":",
  "\n",
  "é",
  "\u{1F600}",
  "__proto__",
  "",
  "Aa",
  "BB"
]
const name = Arbitrary.schema(Schema.Literals(letters))
const isEscaped = Arbitrary.schema(Schema.Boolean)
const member = Arbitrary.all([name, isEscaped])

/** An object of these names, some of them escaped, with values that look like names. */
const objectOf = (members: ReadonlyArray<readonly [name: string, isEscaped: boolean]>, space: string): string =>
  `{${members
    .map(([name, isEscaped]) => `${isEscaped ? `"${escaped(name)}"` : JSON.stringify(name)}${space}:${space}`)
    .map((name, index) => `${name}${index % 2 === 0 ? '["a","a",{"a":"a\\"","b":"b"},"a"]' : '"a"'}`)
    .join(`,${space}`)}}`

describe("the check of a JSON request", () => {
  it.prop(
    "finds a name that an object gives twice, however it is written, and no other",
    { members: Arbitrary.array(member, { maxLength: 6 }), outer: Arbitrary.array(member, { maxLength: 3 }) },
    ({ members, outer }) => {
      const areDifferent = new Set(members.map(([name]) => name)).size === members.length
      const text = objectOf(members, " ")
      // What is valid for the oracle is a fact: JSON.parse takes it.
      JSON.parse(text)
      assert.strictEqual(repeatedAt(text) === undefined, areDifferent, text)
      // The names of an outer object are its own, before and after an inner one.
      const around = new Map(outer)
      const before = [...around].map(([name]) => `${JSON.stringify(name)}:1,`).join("")
      assert.strictEqual(repeatedAt(`{${before}"inner":${text}}`) === undefined, areDifferent)
      assert.isDefined(repeatedAt(`{"z":1,${before}"inner":{"z":1},"z":2}`))
    },
    { arbitrary: { runs: 500 } }
  )

  it("says where the second name stands, and not which it is", () => {
    assert.strictEqual(repeatedAt('{"a":1, "b":2, "a":3}'), 16)
    assert.strictEqual(repeatedAt('[{"a":1},{"\\u0061":2,"a":3}]'), 22)
    assert.notMatch(jsonIssue('{"Secret":1,"Secret":2}', 9) ?? "", /Secret/)
  })

  it("finds an empty name that stands twice, whatever stands before it", () => {
    assert.strictEqual(repeatedAt('{"":1, "":2}'), 8)
    assert.isUndefined(jsonIssue('{"":{"":1}, "a":2}', 9))
  })

  it("takes names that only look alike to a hash, and many names", () => {
    // Equal under h = 31 h + c.
    assert.isUndefined(jsonIssue('{"Aa":1,"BB":2,"C#":3}', 9))
    assert.strictEqual(repeatedAt('{"Aa":1,"BB":2,"Aa":3}'), 16)
    for (const count of [63, 64, 65, 1000]) {
      const names = Array.from({ length: count }, (_, n) => `"n${n}":[{"n0":1}]`)
      assert.isUndefined(jsonIssue(`{${names.join()}}`, 10_000))
      for (const again of [0, count >> 1, count - 1]) {
        assert.isDefined(repeatedAt(`{${names.join()},"n${again}":1}`), `n${again} of ${count}`)
      }
    }
  })

  it("bounds the depth", () => {
    const deep = (depth: number) => [
      "[".repeat(depth) + "]".repeat(depth),
      '{"a":'.repeat(depth) + 1 + "}".repeat(depth)
    ]
    for (const text of deep(maximumDepth)) assert.isUndefined(jsonIssue(text, 1000))
    for (const text of deep(maximumDepth + 1)) assert.match(jsonIssue(text, 1000) ?? "", /too deep; the limit is 64/)
  })

  it("bounds the names of one object", () => {
    const object = (count: number) => `{${Array.from({ length: count }, (_, n) => `"n${n}":1`).join()}}`
    assert.isUndefined(jsonIssue(`[${object(1000)},${object(1000)}]`, 10_000))
    assert.match(jsonIssue(`{"a":[${object(1001)}]}`, 10_000) ?? "", /an object in it has more than 1000 names/)
  })

  it.each(['\\"', "\\\\", "\\n", "\\u4e2d"])("bounds how often %s stands in what is parsed at once", (escape) => {
    const text = escape.repeat(maximumEscapes)
    assert.isUndefined(jsonIssue(`{"a":"${text}"}`, 10))
    assert.match(jsonIssue(`{"a":"${text}","b":"${escape}"}`, 10) ?? "", /more than 1000000 characters/)
    const part = escape.repeat(100_000)
    assert.isUndefined(jsonIssue(`[${Array.from({ length: 15 }, () => `"${part}"`).join()}]`, 100))
  })

  it("bounds an element of an array, whose pieces have whole elements", () => {
    const element = `"${"x".repeat(1024 * 1024 - 4)}"`
    assert.isUndefined(jsonIssue(`[${element},${element}]`, 10))
    for (const text of [`[1,{"a":${element}}]`, `[{"a":${element}},1]`]) {
      assert.match(jsonIssue(text, 10) ?? "", /longer than 1048576 characters/)
    }
    // Also where the text breaks off behind a long name.
    assert.match(jsonIssue(`[{"${"\\n".repeat(600_000)}"`, 10) ?? "", /longer than 1048576 characters/)
  })

  it("bounds names and elements", () => {
    for (const text of [
      "[1,2,3,4]",
      '{"a":1,"b":[1,2]}',
      '[{"a":",,,"},{"b":1}]',
      "[[],[]]",
      '["[[[{{{,,,","\\",,,",3,4]'
    ]) {
      assert.isUndefined(jsonIssue(text, 4), text)
      assert.match(jsonIssue(text, 3) ?? "", /more than 3 names and elements/, text)
    }
  })

  it.each(["", '"', '"\\', "]", "}{", '{"a', '{"a\\":1', '{"\\x":1}', "[1,]", "nonsense", "\\", '{"a":1}}'])(
    "leaves what is no JSON to the parser: %s",
    (text) => {
      assert.throws(() => JSON.parse(text), SyntaxError)
      assert.isUndefined(jsonIssue(text, 100))
    }
  )
})
