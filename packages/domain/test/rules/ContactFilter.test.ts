import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { ContactFilter, contactFilterFromInput } from "../../src/rules/ContactFilter.ts"
import { RawRule, rawRule } from "../../src/rules/RuleText.ts"

const tagOf = (input: Parameters<typeof contactFilterFromInput>[0]) =>
  Effect.map(Effect.flip(contactFilterFromInput(input)), (error) => error._tag)

describe("contactFilterFromInput", () => {
  it.effect("reads a rule, a list, or neither", () =>
    Effect.gen(function* () {
      const byRule = yield* contactFilterFromInput({ rule: "status = Active" })
      assert.deepStrictEqual(
        Option.map(byRule, (filter) => filter._tag),
        Option.some("ByRule")
      )
      const byEmails = Option.getOrUndefined(
        yield* contactFilterFromInput({ emails: ["a@example.com", "b@example.com"] })
      )
      assert.deepStrictEqual(byEmails?._tag === "ByEmails" ? byEmails.emails : [], ["a@example.com", "b@example.com"])
      assert.isTrue(Option.isNone(yield* contactFilterFromInput({})))
      assert.isTrue(Option.isNone(yield* contactFilterFromInput({ rule: undefined, emails: undefined })))
    })
  )

  it.effect("takes a raw rule unread, but not a blank one, nor one beside addresses", () =>
    Effect.gen(function* () {
      const raw = new RawRule({ text: "Email LIKE '%a%'" })
      const filter = Option.getOrUndefined(yield* contactFilterFromInput({ rule: raw }))
      assert.deepStrictEqual(filter, ContactFilter.ByRule({ rule: raw }))
      assert.deepStrictEqual(Result.getOrThrow(rawRule(raw.text)), raw)
      assert.isTrue(Result.isFailure(rawRule(" \n")))
      assert.strictEqual(yield* tagOf({ rule: new RawRule({ text: " " }) }), "InvalidRule")
      assert.strictEqual(yield* tagOf({ rule: raw, emails: ["a@example.com"] }), "ConflictingFilter")
    })
  )

  it.effect.each([
    ["both at once", { rule: "All", emails: ["a@example.com"] }, "ConflictingFilter"],
    ["a rule and an empty list", { rule: "All", emails: [] }, "ConflictingFilter"],
    ["a blank rule and a list", { rule: "", emails: ["a@example.com"] }, "ConflictingFilter"],
    ["a blank rule, which somebody would take for everything", { rule: "" }, "InvalidRule"],
    ["a rule of spaces", { rule: "  " }, "InvalidRule"],
    ["a rule that cannot be read", { rule: "status ~ Active" }, "InvalidRule"],
    ["an empty list, which somebody would take for everything", { emails: [] }, "InvalidInput"]
  ] as const)("refuses %s", ([, input, tag]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* tagOf(input), tag)
    })
  )
})
