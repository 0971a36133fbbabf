import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { IpNetwork } from "effect/net"
import { areRangesWithin, isInRanges, isInIntervals, parseRange, intervalsOf } from "../../src/network/IpRanges.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

/** The plain way: every range is compared with every other. */
const isWithinPlainly = (text: string, others: ReadonlyArray<string>): boolean => {
  const range = parseRange(text)
  return (
    range !== undefined &&
    others.some((other) => {
      const network = parseRange(other)
      return network !== undefined && IpNetwork.containsNetwork(network, range)
    })
  )
}

const addresses = [
  "0.0.0.0",
  "10.0.0.0",
  "10.0.0.1",
  "10.0.1.0",
  "10.128.0.0",
  "255.255.255.255",
  "::",
  "::1",
  "::a00:1",
  "::ffff:10.0.0.1",
  "2001:db8::",
  "2001:db8::ffff",
  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
] as const
const address = Schema.Literals(addresses)
const prefix = Schema.Literals([0, 1, 8, 9, 16, 23, 24, 31, 32, 64, 96, 127, 128])
const range = Arbitrary.map(Arbitrary.all([Arbitrary.schema(address), Arbitrary.schema(prefix)]), ([address, prefix]) =>
  // Without a prefix it is one address.
  prefix === 9 ? address : `${address}/${address.includes(":") ? prefix : Math.min(prefix, 32)}`
)
const ranges = Arbitrary.array(range, { maxLength: 8 })

describe("addresses in ranges", () => {
  it.prop(
    "are found in parsed ranges as in their texts",
    {
      peer: Arbitrary.schema(Schema.Literals([...addresses, "::ffff:10.0.0.1", "10.0.0.1%eth0", "", "nobody"])),
      ranges
    },
    ({ peer, ranges }) => assert.strictEqual(isInIntervals(peer, intervalsOf(ranges)), isInRanges(peer, ranges)),
    { arbitrary: { runs: long ? 2000 : 500 } }
  )
})

describe("ranges within ranges", () => {
  it.prop(
    "are found as by comparing each with each",
    { texts: ranges, others: ranges },
    ({ others, texts }) => {
      for (const text of texts) assert.strictEqual(areRangesWithin([text], others), isWithinPlainly(text, others), text)
      const areAll = texts.every((text) => isWithinPlainly(text, others))
      assert.strictEqual(areRangesWithin(texts, others), areAll)
    },
    { arbitrary: { runs: long ? 2000 : 500 } }
  )

  it("lie within one range alone: two halves are not the whole", () => {
    assert.isFalse(areRangesWithin(["10.0.0.0/8"], ["10.0.0.0/9", "10.128.0.0/9"]))
  })

  it("of two long lists are compared without comparing each with each", () => {
    const many = Array.from(
      { length: 60_000 },
      (_, n) => `2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::/64`
    )
    // Each with each takes minutes, and the time of a test is one.
    assert.isTrue(areRangesWithin(many, many.toReversed()))
  })
})
