/** The checker of histories finds every forgery, and nothing else: its oracle tries all orders of the calls. */
import { assert, describe, it } from "@effect/vitest"
import { makeHistory } from "./history/KeyHistory.ts"
import { type KeyCall, unexplained } from "./history/Linearization.ts"
import { amount, seededRandom } from "../../src/simulation/LongRun.ts"

/** Whether some order of the calls, in which those with an unknown outcome may be missing, is one of a register. */
const hasOrder = (calls: ReadonlyArray<KeyCall>, value: string | undefined): boolean => {
  if (calls.every(({ ended }) => ended === undefined)) return true
  return calls.some((call) => {
    const others = calls.filter((other) => other !== call)
    if (others.some(({ ended }) => ended !== undefined && ended < call.started)) return false
    if (call.kind === "read") return call.value === value && hasOrder(others, value)
    if (call.ended === undefined && hasOrder(others, value)) return true
    return (call.kind === "write" || value === undefined) && hasOrder(others, call.value)
  })
}

/** A few calls at random times, whose reads see any of the values. */
const someCalls = (random: () => number): ReadonlyArray<KeyCall> => {
  const count = 2 + Math.floor(random() * 5)
  return Array.from({ length: count }, (_, index): KeyCall => {
    const started = Math.floor(random() * 12)
    const ended = started + 1 + Math.floor(random() * 6)
    const kind = random()
    if (kind < 0.4) {
      const value = random() < 0.3 ? undefined : `v${Math.floor(random() * count)}`
      return { kind: "read", value, started, ended }
    }
    const isKnown = random() < 0.7
    const value = kind < 0.6 ? undefined : `v${index}`
    return { kind: kind < 0.8 ? "write" : "create", value, started, ended: isKnown ? ended : undefined }
  })
}

/** A history whose clock goes on with each look. */
const history = () => {
  let time = 0
  return makeHistory(() => time++)
}

describe("a history of a key", () => {
  it("is explained if some order of its calls explains it, and not otherwise", () => {
    const random = seededRandom(18)
    const count = { explained: 0, unexplained: 0 }
    for (let round = 0; round < amount({ ci: 20_000, long: 500_000 }); round++) {
      const calls = someCalls(random)
      const isExplained = unexplained(calls) === undefined
      assert.strictEqual(isExplained, hasOrder(calls, undefined), JSON.stringify(calls))
      count[isExplained ? "explained" : "unexplained"]++
    }
    assert.isAbove(count.explained, 1000)
    assert.isAbove(count.unexplained, 1000)
  })

  it("does not explain a lost write, a visible refused one, or a read of what was replaced", () => {
    for (const [outcome, seen, isExplained] of [
      ["ok", undefined, false],
      ["ok", "b", true],
      ["ok", "a", false],
      ["ok", "c", false],
      ["unknown", "a", true],
      ["unknown", "b", true],
      ["unknown", undefined, false],
      ["failed", "a", true],
      ["failed", "b", false]
    ] as const) {
      const forged = history()
      forged.write("k", "a")("ok")
      forged.write("k", "b")(outcome)
      forged.read("k")(seen)
      assert.strictEqual(forged.issues().length, isExplained ? 0 : 1, `${outcome} ${seen}`)
    }
  })

  it("does not explain a deletion that came back, or a name that was given twice", () => {
    const deleted = history()
    deleted.write("k", "a")("ok")
    deleted.write("k", undefined)("ok")
    deleted.read("k")("a")
    assert.strictEqual(deleted.issues().length, 1)
    const twice = history()
    twice.create("id 1", "a")("ok")
    twice.create("id 1", "b")("ok")
    assert.strictEqual(twice.issues().length, 1)
    const between = history()
    between.create("k", "a")("ok")
    between.write("k", undefined)("unknown")
    between.create("k", "b")("ok")
    between.read("k")("b")
    assert.deepStrictEqual(between.issues(), [])
  })

  it("explains either order of two writes at the same time, but not both", () => {
    const calls = history()
    const [a, b] = [calls.write("k", "a"), calls.write("k", "b")]
    calls.read("k")(undefined)
    a("ok")
    b("ok")
    calls.read("k")("a")
    assert.deepStrictEqual(calls.issues(), [])
    calls.read("k")("b")
    assert.strictEqual(calls.issues().length, 1)
  })

  it("does not explain a write that was carried out twice", () => {
    const calls = history()
    const first = calls.write("k", "a")
    calls.read("k")("a")
    calls.write("k", "b")("ok")
    calls.read("k")("b")
    calls.read("k")("a")
    first("unknown")
    assert.strictEqual(calls.issues().length, 1)
  })

  it("is checked in time when hundreds of its writes have an unknown outcome", () => {
    const calls = history()
    for (let round = 0; round < 300; round++) {
      calls.write("k", `a${round}`)("unknown")
      calls.write("k", undefined)("unknown")
      const ends = Array.from({ length: 4 }, (_, index) => calls.write("k", `b${round}.${index}`))
      for (const end of ends) end("ok")
      calls.read("k")(`b${round}.${round % 4}`)
      if (round % 3 === 0) calls.read("k")(undefined)
      if (round % 5 === 0) calls.read("k")(`a${round}`)
    }
    assert.deepStrictEqual(calls.issues(), [])
    calls.read("k")("a1")
    calls.write("k", "c")("ok")
    calls.read("k")("a1")
    assert.strictEqual(calls.issues().length, 1)
  })

  it("names the key, the call without an explanation, and those before it", () => {
    const calls = history()
    calls.write("other", "a")("ok")
    calls.write("k", "a")("ok")
    calls.read("k")("never written")
    const [issue = "", ...others] = calls.issues()
    assert.deepStrictEqual(others, [])
    assert.match(issue, /^k: nothing explains .*never written/)
    assert.include(issue, '"value":"a"')
  })
})
