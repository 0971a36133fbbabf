import { assert, describe, it } from "@effect/vitest"
import { IpRange, UnknownValue } from "@roster/domain"
import { DateTime, Effect } from "effect"
import { changed, keptLevels } from "../../../src/commands/credentials/ChangedCredential.ts"
import type { SettingChanges } from "../../../src/commands/credentials/CredentialFlags.ts"

const none: SettingChanges = {
  set: { expires: undefined, ipRanges: undefined },
  clear: { expires: undefined, ipRanges: undefined }
}
const then = DateTime.makeUnsafe("2030-01-01T00:00:00Z")
const later = DateTime.makeUnsafe("2031-01-01T00:00:00Z")
const range = IpRange.make("192.0.2.0/24")

describe("a change of a credential", () => {
  it("sends unchanged fields as they were read", () => {
    assert.deepStrictEqual(changed({ expires: then, ipRanges: [range] }, none), { expires: then, ipRanges: [range] })
    assert.deepStrictEqual(changed({ expires: null, ipRanges: [] }, none), { expires: null, ipRanges: [] })
    assert.deepStrictEqual(changed({}, none), {})
  })

  it("leaves out ranges that it could not send again", () => {
    assert.deepStrictEqual(changed({ ipRanges: ["192.0.2.*"] }, none), {})
  })

  it("sets and clears", () => {
    const set = { ...none, set: { expires: later, ipRanges: [range] } }
    assert.deepStrictEqual(changed({ expires: then, ipRanges: [] }, set), { expires: later, ipRanges: [range] })
    const clear = { ...none, clear: { expires: null, ipRanges: [] } }
    assert.deepStrictEqual(changed({ expires: then, ipRanges: [range] }, clear), { expires: null, ipRanges: [] })
  })

  it.effect("keeps the levels of a key, and never drops one it does not know", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* keptLevels(["Export", "Security"]), ["Export", "Security"])
      const refused = yield* Effect.flip(keptLevels(["Export", UnknownValue.make("ViewTomorrow")]))
      assert.strictEqual(refused._tag, "UsageError")
      assert.include(refused.message, "ViewTomorrow")
    })
  )
})
