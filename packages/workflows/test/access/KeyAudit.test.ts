import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration } from "effect"
import { type AccessLevel, type ApiKey } from "@roster/domain"
import { untoldLevel } from "@roster/domain/internal"
import { describeFinding, KeyFinding, auditApiKeys } from "../../src/access/KeyAudit.ts"

const date = (text: string) => DateTime.makeUnsafe(text)
const now = date("2026-11-21T12:00:00Z")

/** A key that there is nothing to say about. */
const good: ApiKey = {
  name: "good",
  dateCreated: date("2026-01-01T00:00:00Z"),
  lastUse: date("2026-11-21T11:59:00Z"),
  expires: date("2027-06-01T00:00:00Z"),
  ipRanges: ["192.0.2.0/24"],
  accessLevels: ["ViewContacts", "Export"]
}

const tags = (key: Partial<ApiKey>, options: Omit<Parameters<typeof auditApiKeys>[1], "now"> = {}) =>
  auditApiKeys([{ ...good, ...key }], { now, ...options }).map(({ _tag }) => _tag)

describe("the review of API keys", () => {
  it("has nothing to say of a key that is as it should be", () => {
    assert.deepStrictEqual(tags({}), [])
    assert.deepStrictEqual(tags({ expires: null }), [])
  })

  it.each([
    ["never used", { lastUse: null }, ["NeverUsed"]],
    ["never used, as other services say it", { lastUse: undefined }, ["NeverUsed"]],
    ["never used, made a day ago", { lastUse: null, dateCreated: date("2026-11-20T12:00:00Z") }, ["NeverUsed"]],
    ["never used, made within a day", { lastUse: null, dateCreated: date("2026-11-20T12:00:01Z") }, []],
    [
      "in the last tenth of a life of 20 days",
      { dateCreated: date("2026-11-03T12:00:00Z"), expires: date("2026-11-23T12:00:00Z") },
      ["Expiring"]
    ],
    [
      "before the last tenth of a life of 20 days",
      { dateCreated: date("2026-11-03T12:00:01Z"), expires: date("2026-11-23T12:00:01Z") },
      []
    ],
    ["unused for 90 days to the second", { lastUse: date("2026-08-23T12:00:00Z") }, ["Unused"]],
    ["used within 90 days", { lastUse: date("2026-08-23T12:00:01Z") }, []],
    ["expired now", { expires: now }, ["Expired"]],
    ["expiring within 30 days", { expires: date("2026-12-21T12:00:00Z") }, ["Expiring"]],
    ["expiring later", { expires: date("2026-12-21T12:00:01Z") }, []],
    ["without ranges", { ipRanges: [] }, ["UsableFromEverywhere"]],
    ["that can see keys", { accessLevels: ["Security"] }, ["ManagesKeys"]],
    ["that can change keys", { accessLevels: ["ModifyAccessTokens", "Security"] }, ["ManagesKeys"]]
  ] as const)("finds a key %s", (_, change, found) => {
    // `lastUse` may be missing: it is left out then.
    const { lastUse, ...rest } = { ...good, ...change }
    const key: ApiKey = lastUse === undefined ? rest : { ...rest, lastUse }
    assert.deepStrictEqual(
      auditApiKeys([key], { now }).map(({ _tag }) => _tag),
      [...found]
    )
  })

  it("takes spans and the time in any form", () => {
    const lastUse = date("2026-11-14T12:00:00Z")
    const zoned = DateTime.makeZonedUnsafe(now, { timeZone: "Asia/Tokyo" })
    assert.deepStrictEqual(tags({ lastUse }, { unusedFor: "7 days" }), ["Unused"])
    assert.deepStrictEqual(tags({ expires: date("2026-11-22T12:00:00Z") }, { expiringWithin: { days: 1 } }), [
      "Expiring"
    ])
    assert.deepStrictEqual(
      auditApiKeys([{ ...good, expires: now }], { now: zoned }).map(({ _tag }) => _tag),
      ["Expired"]
    )
  })

  it("goes by the spans that it is given", () => {
    const lastUse = date("2026-11-14T12:00:00Z")
    assert.deepStrictEqual(tags({ lastUse }, { unusedFor: Duration.days(7) }), ["Unused"])
    assert.deepStrictEqual(tags({ lastUse }, { unusedFor: Duration.days(8) }), [])
    const expires = date("2027-01-01T00:00:00Z")
    assert.deepStrictEqual(tags({ expires }, { expiringWithin: Duration.days(60) }), ["Expiring"])
  })

  it("finds the levels that a key was never used for, where that is known of this key", () => {
    const used = (...levels: ReadonlyArray<AccessLevel>) => new Map([["good", new Set<string>(levels)]])
    assert.deepStrictEqual(auditApiKeys([good], { now, levelsUsed: used("ViewContacts") }), [
      KeyFinding.UnusedLevels({ name: "good", levels: ["Export"] })
    ])
    assert.deepStrictEqual(tags({}, { levelsUsed: used("Export", "ViewContacts") }), [])
    assert.deepStrictEqual(tags({ name: "other" }, { levelsUsed: used() }), [])
    // A key that was never used at all is named for that alone, and no level is none.
    assert.deepStrictEqual(tags({ lastUse: null }, { levelsUsed: used() }), ["NeverUsed"])
    assert.deepStrictEqual(tags({ accessLevels: ["None", "Export"] }, { levelsUsed: used("Export") }), [])
  })

  it("names a key of which the service tells no level", () => {
    const untold = { accessLevels: [untoldLevel] }
    assert.deepStrictEqual(tags(untold, { levelsUsed: new Map([["good", new Set<string>()]]) }), ["UntoldLevels"])
  })

  it("says of everything what to do", () => {
    const findings = auditApiKeys(
      [
        { ...good, lastUse: null, expires: now, ipRanges: [], accessLevels: ["Security"] },
        { ...good, accessLevels: [untoldLevel] },
        { ...good, lastUse: date("2020-01-01T00:00:00Z"), expires: date("2026-11-22T00:00:00Z") }
      ],
      { now, levelsUsed: new Map([["good", new Set<string>(["Export"])]]) }
    )
    assert.deepStrictEqual(
      findings.map(({ _tag }) => _tag),
      [
        "Expired",
        "NeverUsed",
        "ManagesKeys",
        "UsableFromEverywhere",
        "UntoldLevels",
        "Expiring",
        "Unused",
        "UnusedLevels"
      ]
    )
    for (const { advice, what } of findings.map(describeFinding)) {
      assert.notStrictEqual(what, "")
      assert.notStrictEqual(advice, "")
    }
  })
})
