import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  ApiKeyPayload,
  ContactPayload,
  ContactUpdatePayload,
  CredentialName,
  EmailAddress,
  EmailMessage,
  ExportId,
  type FromText,
  InvalidInput,
  IpRange,
  SmtpCredentialsPayload
} from "../../src/index.ts"

const name = EmailAddress.make("name@example.com")

/** A value that got past the compiler. */
// The type of a call is the matter of the compiler, and not of these tests.
const unchecked = <A>(value: unknown): A => value as A

const texts: ReadonlyArray<
  readonly [string, FromText<string, InvalidInput> & { make: (text: string) => string }, string, string, string]
> = [
  [
    "EmailAddress",
    EmailAddress,
    "ada@example.com",
    "ada.example.com",
    "Invalid email: an e-mail address has an @, as in name@example.com"
  ],
  ["CredentialName", CredentialName, "reporting", " reporting", "Invalid name: it has a space at one of its ends"],
  [
    "ExportId",
    ExportId,
    "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "3fa85f64",
    "Invalid id: expected the id of an export, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6"
  ],
  [
    "IpRange",
    IpRange,
    "192.0.2.0/24",
    "192.0.2.0/33",
    "Invalid ipRanges: an address or range is written as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32"
  ]
]

describe.each(texts)("%s", (_, schema, good, bad, message) => {
  it.effect("checks a text at run time, and fails with what is wrong", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* schema.fromText(good), good)
      const error = yield* Effect.flip(schema.fromText(bad))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.message, message)
    })
  )

  it.effect("fails for what is no text, too", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(schema.fromText(unchecked(undefined)))
      assert.instanceOf(error, InvalidInput)
    })
  )

  it("throws the same from make, which can still be told not to look", () => {
    assert.strictEqual(schema.make(good), good)
    assert.throws(() => schema.make(bad), InvalidInput, message)
  })
})

describe("make of a payload", () => {
  const tooMany = Array.from({ length: 257 }, () => IpRange.make("192.0.2.7"))
  it.each<readonly [string, () => unknown, string]>([
    [
      "ContactPayload",
      () => ContactPayload.make({ email: unchecked("ada") }),
      "Invalid email: an e-mail address has an @"
    ],
    ["ContactUpdatePayload", () => ContactUpdatePayload.make({ firstName: unchecked(7) }), "Invalid firstName: "],
    [
      "ApiKeyPayload",
      () => ApiKeyPayload.make({ name: CredentialName.make("k"), accessLevels: [], ipRanges: tooMany }),
      "Invalid ipRanges: "
    ],
    ["SmtpCredentialsPayload", () => SmtpCredentialsPayload.make({ name, ipRanges: tooMany }), "at most 256"],
    ["EmailMessage", () => EmailMessage.make({ recipients: [], content: { from: name } }), "Invalid recipients: "]
  ])("%s throws what is wrong with a field", (_, make, message) => assert.throws(make, InvalidInput, message))

  it("makes what is valid", () => {
    assert.deepStrictEqual(ContactPayload.make({ email: name, firstName: "Ada" }), { email: name, firstName: "Ada" })
  })

  it("skips the checks where that is asked for", () => {
    assert.strictEqual(EmailAddress.make("ada", { disableChecks: true }), "ada")
  })
})
