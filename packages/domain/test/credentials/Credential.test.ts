import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isIP } from "node:net"
import { CredentialName, IpRange } from "../../src/credentials/Credential.ts"
import { isAddressable } from "../../src/errors/InvalidInput.ts"

describe("CredentialName", () => {
  it.each(["k", "My key", "a/b?c#d%e", "ключ", "😀", "a".repeat(254), "..."])("accepts %j", (name) => {
    assert.isTrue(Schema.is(CredentialName)(name))
  })
  it.each(["", ".", "..", " k", "k ", "a\tb", "a\nb", "a\0b", "a\u0085b", "\ud800", "a".repeat(255)])(
    "refuses %j",
    (name) => {
      assert.isFalse(Schema.is(CredentialName)(name))
    }
  )
})

describe("IpRange", () => {
  it.each([
    "192.0.2.7",
    "192.0.2.0/24",
    "0.0.0.0/0",
    "255.255.255.255/32",
    "::1",
    "::/0",
    "2001:db8::/32",
    "2001:DB8::7/128",
    "::ffff:192.0.2.7"
  ])("accepts %s", (text) => assert.isTrue(Schema.is(IpRange)(text)))
  it.each([
    "",
    "localhost",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.07",
    "192.0.2.0/33",
    "192.0.2.0/-1",
    "192.0.2.0/",
    "192.0.2.0/024",
    "192.0.2.0/24/24",
    "192.0.2.0 /24",
    "2001:db8::/129",
    "2001:db8:::1",
    "1:2:3:4:5:6:7:8:9",
    "fe80::1%eth0",
    "[::1]"
  ])("refuses %j", (text) => assert.isFalse(Schema.is(IpRange)(text)))

  const part = Schema.Literals(["0", "1", "ff", "255", "256", "12345", ":", "::", ".", "192.0.2.1"])
  it.prop("agrees with Node about addresses", [Schema.Array(part)], ([parts]) => {
    const text = parts.join("")
    assert.strictEqual(Schema.is(IpRange)(text), isIP(text) !== 0)
  })
})

describe("isAddressable", () => {
  it.each([
    ["", false],
    [".", false],
    ["..", false],
    ["a\udfff", false],
    ["a\0", false],
    ["...", true],
    ["%2e", true],
    ["/", true],
    ["😀", true]
  ])("of %j is %s", (text, expected) => assert.strictEqual(isAddressable(text), expected))

  it.prop("holds for exactly what survives a URL as one segment and has no NUL", [Schema.String], ([text]) => {
    let segment: string | undefined
    try {
      const { pathname } = new URL(`http://h/a/${encodeURIComponent(text)}/z`)
      const parts = pathname.split("/")
      segment = parts.length === 4 && parts[2] !== "" ? decodeURIComponent(parts[2] ?? "") : undefined
    } catch {
      segment = undefined
    }
    assert.strictEqual(isAddressable(text), segment === text && text !== "" && !text.includes("\0"))
  })
})
