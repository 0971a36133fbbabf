/** What errors say on the page, which calls some things by other names than code and the command line. */
import { assert, describe, it } from "@effect/vitest"
import { InvalidInput, OutcomeUnknown, parseRule, ServiceError } from "@roster/domain"
import { Result } from "effect"
import { messageOf } from "../../src/kit/Problem.tsx"

describe("what an error says", () => {
  it("calls a rule a filter, with the place of its mistake, and fields by the names of the page", () => {
    const parsed = parseRule("status = Activ")
    if (Result.isSuccess(parsed)) return assert.fail("it is valid")
    assert.strictEqual(messageOf(parsed.failure), parsed.failure.message.replace("the rule", "The filter"))
    assert.strictEqual(
      messageOf(new InvalidInput({ field: "ipRanges", issue: "it is no address" })),
      "Addresses from which it may be used: it is no address"
    )
    assert.strictEqual(
      messageOf(new InvalidInput({ field: "[3].customFields.Stadt", issue: "it is too long" })),
      "Stadt: it is too long"
    )
    const reason = new OutcomeUnknown({ detail: "the connection broke.", recovery: "Use the idempotency key." })
    assert.strictEqual(
      messageOf(new ServiceError({ operation: "listsPost", reason })),
      "Nobody knows whether this was done: the connection broke. Look whether it is, and do it again if not."
    )
    assert.include(messageOf(new Error("")), "This is a bug")
  })
})
