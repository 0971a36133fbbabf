import { assert, describe, it } from "@effect/vitest"
import { CredentialName, EmailAddress } from "@roster/domain"
import { DateTime, Schema } from "effect"
import {
  apiKeySuccessor,
  endOfSmtpDay,
  isReplacedApiKey,
  replacedApiKey,
  smtpOrigin,
  smtpSuccessor
} from "../../src/rotation/RotationNames.ts"

const day = DateTime.makeUnsafe("2026-11-21T23:59:59Z")

describe("the names of a rotation of an API key", () => {
  it("are that of the key with what became of it", () => {
    assert.strictEqual(apiKeySuccessor("ci"), "ci~next")
    assert.strictEqual(replacedApiKey("ci", day, 1), "ci~old-2026-11-21")
    assert.strictEqual(replacedApiKey("ci", day, 12), "ci~old-2026-11-21.12")
    for (const name of [
      "ci",
      "ci~next",
      "ci~old-",
      "ci~old-2026",
      "ci~old-2026-11-21~next",
      "ci~old-2026-11-21.",
      "ci~Old-2026-11-21"
    ]) {
      assert.isFalse(isReplacedApiKey(name), name)
    }
  })

  it.prop(
    "are names, other ones, known again, and of no other name, also where a name is as long as it can be",
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
      const made = [apiKeySuccessor(name), replacedApiKey(name, day, 1), replacedApiKey(name, day, 2)]
      assert.strictEqual(new Set([name, ...made]).size, 4)
      for (const text of made) {
        assert.isTrue(Schema.is(CredentialName)(text), text)
        assert.strictEqual(isReplacedApiKey(text), text !== made[0])
        assert.strictEqual(isReplacedApiKey(text, name), text !== made[0])
        assert.isFalse(isReplacedApiKey(`${text}x`, name))
        if (another !== name) assert.isFalse(isReplacedApiKey(text, another))
      }
    }
  )

  it("keep long names with the same beginning apart, and split no character", () => {
    const names = ["a".repeat(250), "a".repeat(254), `${"a".repeat(253)}b`, `${"a".repeat(226)}😀${"b".repeat(16)}`]
    assert.strictEqual(new Set(names.map(apiKeySuccessor)).size, names.length)
    for (const name of names) assert.isTrue(replacedApiKey(name, day, 1).isWellFormed())
  })
})

describe("the name of a successor of SMTP credentials", () => {
  it("has the date where it is a login, one date, not all of its past, and keeps a tag that is none", () => {
    for (const local of ["shop", "shop+20251231", "shop+20251231-12"]) {
      assert.strictEqual(smtpSuccessor(`${local}@example.com`, day, 1), "shop+20261121@example.com")
      assert.strictEqual(smtpSuccessor(`${local}@example.com`, day, 2), "shop+20261121-2@example.com")
      assert.strictEqual(smtpOrigin(`${local.toUpperCase()}@Example.com`), "shop@example.com")
    }
    for (const local of ["shop+eu", "shop+2025", "shop+20251331", "shop+eu20251231", "20251231"]) {
      assert.strictEqual(smtpSuccessor(`${local}@example.com`, day, 1), `${local}+20261121@example.com`)
      assert.strictEqual(smtpOrigin(`${local}@example.com`), `${local}@example.com`)
      assert.isUndefined(endOfSmtpDay(`${local}@example.com`))
    }
    assert.deepStrictEqual(endOfSmtpDay("shop+20251231-2@example.com"), DateTime.makeUnsafe("2026-01-01T00:00:00Z"))
  })

  it("is an address within the limits, or there is none", () => {
    const room = `${"a".repeat(55)}@example.com`
    assert.strictEqual(smtpSuccessor(room, day, 1), `${"a".repeat(55)}+20261121@example.com`)
    assert.isUndefined(smtpSuccessor(`a${room}`, day, 1))
    const long = `shop@${["b", "c", "d"].map((letter) => letter.repeat(80)).join(".")}.io`
    assert.isTrue(Schema.is(EmailAddress)(long))
    assert.isUndefined(smtpSuccessor(long, day, 1))
  })
})
