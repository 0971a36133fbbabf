import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Random, Schema } from "effect"
import { EmailAddress } from "@roster/domain"
import { makeToken, smtpSuccessor } from "../../src/rotation/RotationState.ts"

const day = DateTime.makeUnsafe("2026-11-21T23:59:59Z")
const token = "7f3a90c1"

describe("the name of a successor of SMTP credentials", () => {
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
