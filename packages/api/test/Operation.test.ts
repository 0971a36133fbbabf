import { assert, describe, it } from "@effect/vitest"
import { accessFor, purposes } from "@roster/domain"
import { parsePurpose } from "@roster/domain/internal"
import { levelPowers, parsePurposes } from "@roster/domain/Purpose"
import { Result } from "effect"
import { operations } from "../src/index.ts"

describe("the access levels that a purpose needs", () => {
  // By the table of the service interface, and not by our own annotations.
  it.each([
    ["contacts:read", ["ViewContacts"]],
    ["contacts:write", ["ModifyContacts"]],
    ["contacts:delete", ["ModifyContacts"]],
    ["contacts:import", ["ModifyContacts"]],
    ["contacts:export", ["Export"]],
    ["apikeys:read", ["Security"]],
    ["apikeys:write", ["ModifyAccessTokens"]],
    ["smtp:read", ["Security"]],
    ["smtp:write", ["ModifyAccessTokens"]],
    ["emails:send", ["SendHttp"]]
  ] as const)("%s", (purpose, levels) => assert.deepStrictEqual(accessFor([purpose]), [...levels]))

  it("are those of all purposes together, each once", () => {
    assert.sameMembers(
      [...accessFor(["contacts:export", "contacts:read", "contacts:export"])],
      ["ViewContacts", "Export"]
    )
    assert.deepStrictEqual(accessFor([]), [])
  })

  it("each belong to an operation", () => {
    const needed = Array.from(operations.values()).flatMap(({ purpose }) => purpose ?? [])
    assert.sameMembers([...new Set(needed)], [...purposes])
    assert.deepStrictEqual(operations.get("accountKeyGet")?.requiredAccess, "None")
  })
})

describe("a purpose as it is typed", () => {
  it.each([
    ["contacts:read", "contacts:read"],
    [" Contacts:READ ", "contacts:read"],
    ["export", "contacts:export"],
    ["import", "contacts:import"],
    ["send", "emails:send"],
    // Of several things.
    ["read", undefined],
    ["write", undefined],
    ["contacts", undefined],
    ["", undefined]
  ])("%j is %s", (typed, purpose) => assert.strictEqual(parsePurpose(typed), purpose))
})

describe("purposes with commas between them", () => {
  it.each([
    ["contacts:read,write", ["contacts:read", "contacts:write"]],
    ["contacts:read, smtp:read ,write", ["contacts:read", "smtp:read", "smtp:write"]],
    ["contacts:read,export,send", ["contacts:read", "contacts:export", "emails:send"]],
    // Of one thing only if another purpose before says which.
    ["write,contacts:read", "write"],
    ["contacts:read,", ""]
  ])("%j are %j", (typed, found) =>
    assert.deepStrictEqual<unknown>(
      Result.match(parsePurposes(typed), { onFailure: (name) => name, onSuccess: (names) => names }),
      found
    )
  )

  it("stand each below the one level that it needs", () => {
    assert.sameMembers(
      levelPowers.flatMap(({ purposes }) => purposes),
      [...purposes]
    )
    for (const { level, purposes } of levelPowers) assert.deepStrictEqual(accessFor(purposes), [level])
  })
})
