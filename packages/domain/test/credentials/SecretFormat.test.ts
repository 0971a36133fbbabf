import { assert, describe, it } from "@effect/vitest"
import { crc32 } from "node:zlib"
import * as SecretFormat from "../../src/credentials/SecretFormat.ts"

describe("the form of a secret", () => {
  const bits = [0n, 1n, 2n ** 96n, 2n ** 192n - 1n, 0x0123456789abcdefn]

  it.each(Object.values(SecretFormat.prefixes))("begins with %s and ends with the CRC-32 of the rest", (prefix) => {
    for (const number of bits) {
      const secret = SecretFormat.secretOf(prefix, number)
      const body = secret.slice(0, -7)
      assert.strictEqual(body, `${prefix}${number.toString(36).padStart(38, "0")}`)
      assert.strictEqual(Number.parseInt(secret.slice(-7), 36), crc32(body))
      assert.strictEqual(SecretFormat.isApiKey(secret), prefix === "roster_")
    }
  })

  it("is lost with any other character", () => {
    const secret = SecretFormat.secretOf("roster_", 2n ** 191n + 12345n)
    for (let index = 0; index < secret.length; index++) {
      for (const other of "0az") {
        const mistyped = secret.slice(0, index) + other + secret.slice(index + 1)
        assert.strictEqual(SecretFormat.isApiKey(mistyped), mistyped === secret)
      }
    }
  })
})
