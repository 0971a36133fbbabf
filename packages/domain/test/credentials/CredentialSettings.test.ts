import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { isSameSetting } from "../../src/credentials/CredentialSettings.ts"

const at = (text: string) => DateTime.makeUnsafe(text)

describe("two values of a setting", () => {
  it("are the same if they mean the same", () => {
    assert.isTrue(isSameSetting(["2001:DB8::1", "::1"], ["::1", "2001:db8::1", "::1"]))
    assert.isTrue(isSameSetting(at("2030-01-01T00:00:00.000Z"), at("2030-01-01T00:00:00.999Z")))
    assert.isTrue(isSameSetting(null, undefined))
    assert.isTrue(isSameSetting([], undefined))
    assert.isTrue(isSameSetting("a", "a"))
  })

  it("differ otherwise", () => {
    assert.isFalse(isSameSetting(["::1"], ["::1", "::2"]))
    assert.isFalse(isSameSetting(at("2030-01-01T00:00:00Z"), at("2030-01-01T00:00:01Z")))
    assert.isFalse(isSameSetting(at("1970-01-01T00:00:00Z"), null))
    assert.isFalse(isSameSetting("a", "A"))
  })
})
