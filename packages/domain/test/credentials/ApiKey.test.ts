import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { accessFor, ApiKeyPayload, InvalidInput, purposes } from "../../src/index.ts"

type ApiKeyInput = Parameters<typeof ApiKeyPayload.fromInput>[0]

// A value that got past the compiler.
const unchecked = (input: unknown): ApiKeyInput => input as ApiKeyInput

describe("ApiKeyPayload.fromInput", () => {
  it.effect("takes purposes for access levels", () =>
    Effect.gen(function* () {
      const payload: ApiKeyPayload = yield* ApiKeyPayload.fromInput({
        name: "reporting",
        for: ["contacts:read", "contacts:export", "contacts:read"],
        accessLevels: ["ViewContacts", "ViewAccount"],
        ipRanges: ["192.0.2.0/24"],
        subaccount: "sub@example.com"
      })
      assert.deepStrictEqual<unknown>(payload, {
        name: "reporting",
        accessLevels: ["ViewContacts", "ViewAccount", "Export"],
        expires: undefined,
        ipRanges: ["192.0.2.0/24"],
        subaccount: "sub@example.com"
      })
    })
  )

  const end = DateTime.makeUnsafe("2030-12-31T12:00:00Z")
  it.effect.each<readonly [string, ApiKeyInput["expires"]]>([
    ["a text", "2030-12-31T12:00:00Z"],
    ["a text without a zone", "2030-12-31T12:00:00"],
    ["a Date", new Date("2030-12-31T12:00:00Z")],
    ["milliseconds", Date.parse("2030-12-31T12:00:00Z")],
    ["an instant", end],
    ["a date in a zone", DateTime.makeZonedUnsafe("2030-12-31T12:00:00Z", { timeZone: "Europe/Berlin" })]
  ])("takes the end as %s", ([, expires]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* ApiKeyPayload.fromInput({ name: "k", expires })).expires, end)
    })
  )

  it.effect("takes the end as a time from now", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(end.epochMilliseconds)
      const { expires } = yield* ApiKeyPayload.fromInput({ name: "k", expires: Duration.days(90) })
      assert.deepStrictEqual(expires, DateTime.add(end, { days: 90 }))
    })
  )

  it.effect("clears the end by null", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* ApiKeyPayload.fromInput({ name: "k", expires: null })).expires, null)
    })
  )

  it.effect.each<readonly [string, ApiKeyInput, string]>([
    ["a name", { name: " k" }, "name"],
    ["a range", { name: "k", ipRanges: ["192.0.2.0/24", "everywhere"] }, "ipRanges[1]"],
    ["a subaccount", { name: "k", subaccount: "sub" }, "subaccount"],
    ["an end that does not exist", { name: "k", expires: "soon" }, "expires"],
    ["an end on 30 February", { name: "k", expires: "2030-02-30" }, "expires"],
    ["a duration that never ends", { name: "k", expires: Duration.infinity }, "expires"],
    ["an end that is no instant", { name: "k", expires: Number.NaN }, "expires"],
    ["a purpose", unchecked({ name: "k", for: ["contacts:eat"] }), "for"],
    ["a field", unchecked({ name: "k", expire: "2030-12-31" }), "expire"],
    ["a field beside purposes", unchecked({ name: "k", for: ["contacts:read"], ipranges: [] }), "ipranges"],
    ["an access level", unchecked({ name: "k", accessLevels: ["Everything"] }), "accessLevels[0]"]
  ])("names %s that is wrong", ([, input, field]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ApiKeyPayload.fromInput(input))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.field, field)
    })
  )
})

describe("accessFor", () => {
  it("gives each level once", () => {
    assert.deepStrictEqual(accessFor(["contacts:delete", "contacts:write", "contacts:read"]), [
      "ModifyContacts",
      "ViewContacts"
    ])
    assert.isNotEmpty(purposes)
  })
})
