import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Random, Schema } from "effect"
import { CredentialName, EmailAddress } from "@roster/domain"
import { apiKeySuccessor, isApiKeySuccessor, makeToken, smtpSuccessor } from "../../src/rotation/RotationState.ts"

const day = DateTime.makeUnsafe("2026-11-21T23:59:59Z")
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

  it.prop("is always a name, another one, and known again", [Schema.String], ([text]) => {
    const name = `k${text.replaceAll(/[\p{Cc}\p{Cs}]/gu, "")}k`
    const successor = apiKeySuccessor(name, token)
    assert.isTrue(Schema.is(CredentialName)(successor))
    assert.notStrictEqual(successor, name)
    assert.isTrue(isApiKeySuccessor(name, successor))
  })

  it("has the date where it is a login, one date, not all of its past, and keeps a tag that is none", () => {
    const successors = ["shop", "shop+20251231", "shop+20251231-12", "shop+20251231-7f3a90c2", "shop+eu"].map((local) =>
      smtpSuccessor(`${local}@example.com`, token, day)
    )
    const dated = "shop+20261121-7f3a90c1@example.com"
    assert.deepStrictEqual<unknown>(successors, [dated, dated, dated, dated, "shop+eu+20261121-7f3a90c1@example.com"])
  })

  it("is an address within the limits, or there is none", () => {
    const room = `${"a".repeat(46)}@example.com`
    assert.strictEqual<unknown>(smtpSuccessor(room, token, day), `${"a".repeat(46)}+20261121-7f3a90c1@example.com`)
    assert.isUndefined(smtpSuccessor(`a${room}`, token, day))
    const long = `shop@${["b", "c", "d"].map((letter) => letter.repeat(80)).join(".")}.io`
    assert.isTrue(Schema.is(EmailAddress)(long))
    assert.isUndefined(smtpSuccessor(long, token, day))
  })

  it.effect("has another token for each rotation, of eight digits", () =>
    Effect.gen(function* () {
      const tokens = yield* Effect.replicateEffect(makeToken, 100)
      for (const token of tokens) assert.match(token, /^[0-9a-f]{8}$/)
      assert.isAbove(new Set(tokens).size, 95)
    }).pipe(Random.withSeed("tokens"))
  )
})
