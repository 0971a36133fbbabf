import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { BlockList } from "node:net"
import { areRangesWithin, isInRanges } from "../../src/network/IpRanges.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

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
  "2001:db8::",
  "2001:db8::ffff",
  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
] as const

const familyOf = (text: string) => (text.includes(":") ? ("ipv6" as const) : ("ipv4" as const))

const range = Arbitrary.map(
  Arbitrary.all([
    Arbitrary.schema(Schema.Literals(addresses)),
    Arbitrary.schema(Schema.Literals([0, 1, 8, 16, 23, 24, 31, 32, 64, 96, 127, 128]))
  ]),
  ([address, prefix]) => ({ address, prefix: familyOf(address) === "ipv6" ? prefix : Math.min(prefix, 32) })
)

type Range = typeof range extends Arbitrary.Arbitrary<infer A> ? A : never

const textOf = ({ address, prefix }: Range) => `${address}/${prefix}`

/** Node's own answer. */
const isInOne = (peer: string, { address, prefix }: Range): boolean => {
  if (familyOf(peer) !== familyOf(address)) return false
  const list = new BlockList()
  list.addSubnet(address, prefix, familyOf(address))
  return list.check(peer, familyOf(peer))
}

const ranges = Arbitrary.array(range, { maxLength: 8 })

describe("ranges", () => {
  it.prop(
    "contain the addresses that Node finds in them",
    { peer: Arbitrary.schema(Schema.Literals(addresses)), ranges },
    ({ peer, ranges }) =>
      assert.strictEqual(
        isInRanges(peer, ranges.map(textOf)),
        ranges.some((one) => isInOne(peer, one))
      ),
    { arbitrary: { runs: long ? 2000 : 500 } }
  )

  it("contain an IPv4 peer of a dual-stack socket, an address with a zone, and nobody without an address", () => {
    assert.isTrue(isInRanges("::ffff:10.0.0.1", ["10.0.0.0/8"]))
    assert.isTrue(isInRanges("10.0.0.1", ["::ffff:10.0.0.1"]))
    assert.isTrue(isInRanges("::ffff:a00:2", ["::ffff:10.0.0.0/120"]))
    assert.isFalse(isInRanges("10.0.1.1", ["::ffff:10.0.0.0/120"]))
    assert.isTrue(areRangesWithin(["::ffff:10.0.0.7"], ["10.0.0.0/8"]))
    assert.isTrue(isInRanges("fe80::1%eth0", ["fe80::/10"]))
    assert.isFalse(isInRanges("nobody", ["0.0.0.0/0", "::/0"]))
    assert.isFalse(isInRanges("", ["0.0.0.0/0", "::/0"]))
  })

  it.prop(
    "lie within another that has their first address and is no narrower",
    { texts: ranges, others: ranges },
    ({ others, texts }) => {
      const isWithin = (one: Range) => others.some((other) => other.prefix <= one.prefix && isInOne(one.address, other))
      assert.strictEqual(areRangesWithin(texts.map(textOf), others.map(textOf)), texts.every(isWithin))
    },
    { arbitrary: { runs: long ? 2000 : 500 } }
  )

  it("lie within one range alone: two halves are not the whole", () => {
    assert.isFalse(areRangesWithin(["10.0.0.0/8"], ["10.0.0.0/9", "10.128.0.0/9"]))
  })
})
