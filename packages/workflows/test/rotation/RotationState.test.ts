import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { CredentialName, EmailAddress } from "@roster/domain"
import { apiKeySuccessor, smtpSuccessors } from "../../src/rotation/RotationState.ts"

const day = DateTime.makeUnsafe("2026-11-21T23:59:59Z")

describe("the name of a successor", () => {
  it("follows from the name of an API key", () => {
    assert.strictEqual(apiKeySuccessor("ci"), "ci~next")
    assert.strictEqual(apiKeySuccessor("ci~next"), "ci~next~next")
  })

  it("fits where the name is as long as a name can be, and long names keep apart", () => {
    const names = ["a".repeat(250), "a".repeat(254), `${"a".repeat(253)}b`, `${"a".repeat(236)}😀${"b".repeat(16)}`]
    const successors = names.map(apiKeySuccessor)
    for (const successor of successors) {
      assert.isTrue(Schema.is(CredentialName)(successor), successor)
      assert.isAtMost(successor.length, 254)
    }
    assert.strictEqual(new Set(successors).size, names.length)
  })

  it.prop("is always a name, and another one", [Schema.String], ([text]) => {
    const name = `k${text.replaceAll(/[\p{Cc}\p{Cs}]/gu, "")}k`
    const successor = apiKeySuccessor(name)
    assert.isTrue(Schema.is(CredentialName)(successor))
    assert.notStrictEqual(successor, name)
  })

  it("has the date where it is a login, and a number after the first of a day", () => {
    assert.deepStrictEqual<ReadonlyArray<string>>(smtpSuccessors("shop@example.com", day).slice(0, 3), [
      "shop+20261121@example.com",
      "shop+20261121-2@example.com",
      "shop+20261121-3@example.com"
    ])
  })

  it("has one date, not all of its past, and keeps a tag that is none", () => {
    assert.strictEqual(smtpSuccessors("shop+20251231@example.com", day)[0], "shop+20261121@example.com")
    assert.strictEqual(smtpSuccessors("shop+20251231-12@example.com", day)[0], "shop+20261121@example.com")
    assert.strictEqual(smtpSuccessors("shop+20261121@example.com", day)[0], "shop+20261121-2@example.com")
    assert.strictEqual(smtpSuccessors("shop+eu@example.com", day)[0], "shop+eu+20261121@example.com")
  })

  it("is an address within the limits, or there is none", () => {
    const room = `${"a".repeat(55)}@example.com`
    assert.deepStrictEqual<ReadonlyArray<string>>(smtpSuccessors(room, day), [`${"a".repeat(55)}+20261121@example.com`])
    assert.deepStrictEqual(smtpSuccessors(`a${room}`, day), [])
    const long = `shop@${["b", "c", "d"].map((letter) => letter.repeat(80)).join(".")}.io`
    assert.isTrue(Schema.is(EmailAddress)(long))
    assert.deepStrictEqual(smtpSuccessors(long, day), [])
  })
})
