import { assert, describe, it } from "@effect/vitest"
import { ApiKeyPayload, ContactPayload, EmailMessage, ExportFileFormat, SmtpCredentialsPayload } from "@roster/domain"
import { invalidInput } from "@roster/domain/internal"
import { identity, Result, Schema } from "effect"
import { refusalTexts } from "../src/ErrorTexts.ts"
import { emails, paging, repeated } from "../src/Parameters.ts"
import {
  BadRequest,
  Conflict,
  Forbidden,
  UnauthorizedRequest,
  NotFound,
  InternalServerError,
  ServiceUnavailable,
  TooManyRequests
} from "../src/WireError.ts"

const canary = "canary-7f3a"

const refusal = (schema: Schema.Codec<unknown, unknown>, value: unknown) => {
  const result = Schema.decodeUnknownResult(schema)(value)
  if (Result.isSuccess(result)) throw new Error("it was accepted")
  return result.failure
}

describe("invalidInput", () => {
  const contact = { Email: "a@example.com" }
  const message = { Recipients: [{ Email: "a@example.com" }], Content: { From: "b@example.com" } }
  it.each([
    ["Email", "email", ContactPayload, { Email: `${canary} @example.com` }],
    ["Email", "email", ContactPayload, {}],
    ["Status", "status", ContactPayload, { ...contact, Status: canary }],
    ["FirstName", "firstName", ContactPayload, { ...contact, FirstName: [canary] }],
    ["CustomFields.city", "customFields.city", ContactPayload, { ...contact, CustomFields: { city: { [canary]: 1 } } }],
    ["Consent.ConsentDate", "consent.date", ContactPayload, { ...contact, Consent: { ConsentDate: canary } }],
    [
      "Consent.ConsentTracking",
      "consent.tracking",
      ContactPayload,
      { ...contact, Consent: { ConsentTracking: canary } }
    ],
    ["[1].Email", "[1].email", Schema.Array(ContactPayload), [contact, { Email: canary }]],
    ["body", "body", Schema.Array(ContactPayload), canary],
    ["Name", "name", SmtpCredentialsPayload, { Name: canary }],
    ["AccessLevel[1]", "accessLevels[1]", ApiKeyPayload, { Name: "k", AccessLevel: ["Export", canary] }],
    [
      "RestrictAccessToIPRange[0]",
      "ipRanges[0]",
      ApiKeyPayload,
      { Name: "k", AccessLevel: [], RestrictAccessToIPRange: [canary] }
    ],
    ["Expires", "expires", ApiKeyPayload, { Name: "k", AccessLevel: [], Expires: canary }],
    ["Subaccount", "subaccount", ApiKeyPayload, { Name: "k", AccessLevel: [], Subaccount: canary }],
    ["Recipients", "recipients", EmailMessage, { ...message, Recipients: [] }],
    [
      "Recipients[0].Email",
      "recipients[0].email",
      EmailMessage,
      { ...message, Recipients: [{ Email: { [canary]: 1 } }] }
    ],
    ["Content.From", "content.from", EmailMessage, { ...message, Content: {} }],
    ["fileFormat", "fileFormat", Schema.Struct({ fileFormat: ExportFileFormat }), { fileFormat: canary }],
    ["limit", "limit", Schema.Struct(paging), { limit: `-${canary}` }],
    ["offset", "offset", Schema.Struct(paging), { offset: ["1", "2"] }]
  ])(
    "names %s as its caller does, %s in code, and not its value",
    (wire, code, schema: Schema.Codec<unknown, unknown>, value) => {
      const error = refusal(schema, value)
      const text = refusalTexts.InvalidInput.print(invalidInput(error, "body", identity))
      assert.strictEqual(text, `Invalid ${wire}: ${invalidInput(error).issue}`)
      assert.strictEqual(invalidInput(error).field, code)
      assert.notInclude(text, canary)
      assert.notMatch(text, /[\r\n]/)
    }
  )
})

describe("counts", () => {
  const decode = Schema.decodeUnknownResult(Schema.Struct(paging))
  it.each([
    ["0", 0],
    ["20", 20],
    ["007", 7],
    ["9007199254740991", 9_007_199_254_740_991]
  ])("limit=%s is %i", (text, value) => {
    assert.deepStrictEqual(Result.getOrThrow(decode({ limit: text })).limit, value)
  })
  it.each([
    "-1",
    "+1",
    "1e2",
    "",
    " ",
    "1 ",
    "1.0",
    "0x10",
    "1_000",
    "１",
    "٣",
    "1\n",
    "NaN",
    "9007199254740993",
    "99999999999999999999",
    ["1", "1"],
    null
  ])("limit=%j is refused", (value) => {
    assert.isTrue(Result.isFailure(decode({ limit: value })))
  })
})

describe("lists in a query", () => {
  const read = (
    schema: Schema.Codec<ReadonlyArray<string>, string | ReadonlyArray<string>>,
    value: string | ReadonlyArray<string>
  ) => Schema.decodeSync(schema)(value)
  it("are repeated keys, or the key once", () => {
    assert.deepStrictEqual(read(repeated, ["a", "b"]), ["a", "b"])
    assert.deepStrictEqual(read(repeated, "a, b"), ["a, b"])
    assert.deepStrictEqual(read(emails, ["a@example.com", "b@example.com"]), ["a@example.com", "b@example.com"])
  })
  it("of e-mails may be joined by commas", () => {
    assert.deepStrictEqual(read(emails, "a@example.com, b@example.com,c@example.com"), [
      "a@example.com",
      "b@example.com",
      "c@example.com"
    ])
  })
})

describe("wire errors", () => {
  it.each([
    BadRequest,
    UnauthorizedRequest,
    Forbidden,
    NotFound,
    Conflict,
    TooManyRequests,
    InternalServerError,
    ServiceUnavailable
  ])(
    "travel as {Error} and nothing else (%o)",
    (schema: Schema.Codec<unknown, unknown> & { readonly make: (fields: { readonly Error: string }) => unknown }) => {
      const error = schema.make({ Error: "why" })
      assert.deepStrictEqual<unknown>(Schema.encodeUnknownSync(schema)(error), { Error: "why" })
      assert.deepStrictEqual<unknown>(Schema.decodeSync(schema)({ Error: "why" }), error)
    }
  )
})
