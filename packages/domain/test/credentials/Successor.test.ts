import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { apiKeySuccessor, CredentialName, isApiKeySuccessor } from "../../src/index.ts"

const token = "7f3a90c1"

describe("the name of a successor", () => {
  it("is that of an API key with the token of the rotation", () => {
    assert.strictEqual(apiKeySuccessor("ci", token), "ci~next-7f3a90c1")
    assert.strictEqual(apiKeySuccessor("ci~next", token), "ci~next~next-7f3a90c1")
  })

  it("is known as one of that name, as are those of earlier versions, and no other", () => {
    for (const name of ["ci~next-7f3a90c1", "ci~next"]) assert.isTrue(isApiKeySuccessor("ci", name), name)
    for (const name of ["ci", "ci~next-", "ci~next-7f3a", "ci~next-7f3a90c1~next", "ci~nexT", "other~next-7f3a90c1"]) {
      assert.isFalse(isApiKeySuccessor("ci", name), name)
    }
  })

  it("fits where the name is as long as a name can be, and long names keep apart", () => {
    const names = ["a".repeat(250), "a".repeat(254), `${"a".repeat(253)}b`, `${"a".repeat(232)}😀${"b".repeat(16)}`]
    const successors = names.map((name) => apiKeySuccessor(name, token))
    for (const successor of successors) {
      assert.isTrue(Schema.is(CredentialName)(successor), successor)
      assert.isAtMost(successor.length, 254)
    }
    assert.strictEqual(new Set(successors).size, names.length)
    for (const [index, name] of names.entries()) {
      assert.deepStrictEqual(
        successors.map((successor) => isApiKeySuccessor(name, successor)),
        names.map((_, other) => other === index)
      )
    }
  })

  it.prop(
    "is always a name, another one, known again, and of no other name",
    [Schema.String, Schema.String, Schema.Int],
    ([one, other, times]) => {
      // Most generated texts are short: half of these are as long as a name can be.
      const nameOf = (text: string) => {
        const kept = text.replaceAll(/[\p{Cc}\p{Cs}]/gu, "")
        return `k${kept
          .repeat(times % 2 === 0 ? 1 : 300)
          .slice(0, 252)
          .toWellFormed()
          .replaceAll("\ufffd", "x")}k`
      }
      const [name, another] = [nameOf(one), nameOf(other)]
      const successor = apiKeySuccessor(name, token)
      assert.isTrue(Schema.is(CredentialName)(successor), successor)
      assert.notStrictEqual<string>(successor, name)
      assert.isTrue(isApiKeySuccessor(name, successor))
      assert.strictEqual(isApiKeySuccessor(another, successor), another === name)
      assert.isFalse(isApiKeySuccessor(name, `${successor}x`))
    }
  )
})
