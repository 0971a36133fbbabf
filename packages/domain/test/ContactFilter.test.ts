import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { contactFilterFromInput } from "../src/ContactFilter.ts"

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
