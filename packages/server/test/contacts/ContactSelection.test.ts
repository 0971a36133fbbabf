import { assert, describe, it } from "@effect/vitest"
import { parseRule } from "@roster/domain"
import { Result } from "effect"
import { identitiesOf } from "../../src/contacts/ContactSelection.ts"

// That a store finds the same contacts by their addresses: packages/testing/test/properties/RulesOnStore.ts.
describe("the addresses of a rule", () => {
  it.each([
    ["email = 'A@Example.com'", ["a@example.com"]],
    ["email = 'a@bücher.example'", ["a@xn--bcher-kva.example"]],
    ["email = 'a@example.com' OR (email = 'b@example.com' AND status = Active)", ["a@example.com", "b@example.com"]],
    ["city = 'Oslo' AND (email = 'a@example.com' OR email = 'A@example.com')", ["a@example.com"]],
    ["(email = 'a@example.com' OR email = 'b@example.com') AND email = 'b@example.com'", ["b@example.com"]],
    // It selects nobody.
    ["email = ''", [""]],
    ["email != 'a@example.com'", undefined],
    ["email contains 'a@example.com'", undefined],
    ["email = 'a@example.com' OR city = 'Oslo'", undefined],
    ["'e-mail' = 'a@example.com'", undefined],
    ["All", undefined]
  ])("%s", (text, identities) => {
    const found = identitiesOf(Result.getOrThrow(parseRule(text)))
    assert.deepStrictEqual(found && [...found], identities)
  })
})
