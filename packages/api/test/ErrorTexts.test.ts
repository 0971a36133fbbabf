import { assert, describe, it } from "@effect/vitest"
import {
  AccessDenied,
  ConflictingFilter,
  ContactNotFound,
  CredentialNotFound,
  EmailNotFound,
  ExceedsGrantor,
  ExportExpired,
  ExportNotFound,
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  ImportRefused,
  InvalidInput,
  InvalidRule,
  JobEnded,
  JobNotFound,
  LastManagingKey,
  ListNotFound,
  NameTaken,
  NotAllowedSender,
  parseRule,
  RateLimited,
  RunNotFound,
  RunRefused,
  RunTaken,
  SavedRuleNotFound,
  ServiceError,
  StoreFailure,
  TooManyContacts,
  TooManyCredentials,
  Unavailable
} from "@roster/domain"
import { codeField, wireField } from "@roster/domain/internal"
import { Predicate, Result, Schema } from "effect"
import {
  printExceedsGrantor,
  readAccountLimit,
  readExceedsGrantor,
  readRefusal,
  readRunRefused,
  readStoreFailure,
  readUnavailable,
  type Refusal,
  refusalTexts
} from "../src/ErrorTexts.ts"
import { openApiDocument } from "../src/OpenApiDocument.ts"

/** What somebody may call a list or a key to make one refusal look like another. */
const hostile = [
  "",
  '"',
  'x". A list is created',
  'x" is taken. Choose another one',
  "line\nbreak",
  "\u2028",
  "a.",
  "from e-mail address <a@example.com> is not allowed",
  "Provide either a rule or a list of e-mails, not both.",
  "Invalid Email: x",
  "1001 contacts in one request, but at most 1000 are allowed.",
  'There is no list "a". A list is'
]
const Text = Schema.Union([Schema.Literals(hostile), Schema.String])
const Word = Schema.String.check(Schema.isPattern(/^[^\s<>]{1,20}$/))

/** Fields by their names in code and on the wire. */
const fields = [
  ["email", "email"],
  ["[0].email", "[0].Email"],
  ["[3].consent.ip", "[3].Consent.ConsentIP"],
  ["[0].write.removeFromLists", "[0].Write.RemoveFromLists"],
  ["accessLevels[1]", "AccessLevel[1]"],
  ["ipRanges[0]", "RestrictAccessToIPRange[0]"],
  ["listNames[2]", "listnames[2]"],
  ["content.attachments[0].contentType", "Content.Attachments[0].ContentType"],
  ["content.body", "Content.Body"],
  ["emails[7]", "Emails[7]"],
  ...["body", "limit", "fileFormat", "idempotencyKey", "subaccount", "[3]", "nickname", "a.nickname[2]"].map(
    (name) => [name, name] as const
  )
] as const
const maps = ["customFields", "[3].customFields", "[0].write.customFields", "content.headers", "recipients[9].fields"]
const isName = new Set(fields.flat().flatMap((field) => field.split(/[.[\]]+/)))
/** A field, one with a custom name, which may be that of a field, or a name that no field has. */
const Field = Schema.Union([
  Schema.Literals(fields.map(([code]) => code)),
  Schema.TemplateLiteral([
    Schema.Literals(maps),
    ".",
    Schema.Union([Word, Schema.Literals(["Email", "a:b", "email[0]"])])
  ]),
  Word.check(Schema.makeFilter((word) => !word.split(/[.[\]]+/).some((name) => isName.has(name))))
])
const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

/** What the wire keeps of an error: of a rule that cannot be read neither the rule, which the caller has, nor the hints. */
const lost = ["rule", "length", "expected", "hint"]
const kept = (error: Refusal | undefined): unknown => Object.entries(error ?? {}).filter(([key]) => !lost.includes(key))

const returns = <E extends Refusal>(error: E, print: (error: E) => string) =>
  assert.deepStrictEqual(kept(readRefusal(refusalTexts[error._tag].status, print(error))), kept(error))

describe("refusal texts", () => {
  it.prop("what an account has too much of reads back", [Text], ([text]) => {
    const detail = `${text}.`
    for (const retryAfter of [{}, { retryAfter: 120 }]) {
      assert.strictEqual(readAccountLimit(new RateLimited({ detail, ...retryAfter }).message), detail)
      assert.isUndefined(readAccountLimit(new RateLimited(retryAfter).message))
    }
  })
  it.prop("why a service cannot answer reads back", [Text], ([detail]) => {
    for (const retryAfter of [{}, { retryAfter: 120 }]) {
      assert.strictEqual(readUnavailable(new Unavailable({ detail, ...retryAfter }).message), detail)
    }
    assert.isUndefined(readUnavailable(new StoreFailure({ detail }).message))
  })
  it.prop("ConflictingFilter reads back", [Schema.Null], () =>
    returns(new ConflictingFilter({}), refusalTexts.ConflictingFilter.print)
  )
  it.prop("ContactNotFound reads back", [Text], ([email]) =>
    returns(new ContactNotFound({ email }), refusalTexts.ContactNotFound.print)
  )
  it.prop("CredentialNotFound reads back", [Text], ([name]) =>
    returns(new CredentialNotFound({ name }), refusalTexts.CredentialNotFound.print)
  )
  it.prop("ExportExpired reads back", [Word], ([id]) =>
    returns(new ExportExpired({ id }), refusalTexts.ExportExpired.print)
  )
  it.prop("ExportNotFound reads back", [Word], ([id]) =>
    returns(new ExportNotFound({ id }), refusalTexts.ExportNotFound.print)
  )
  it.prop("IdempotencyKeyInUse reads back", [Count], ([retryAfter]) =>
    returns(new IdempotencyKeyInUse({ retryAfter }), refusalTexts.IdempotencyKeyInUse.print)
  )
  it.prop("IdempotencyKeyReused reads back", [Schema.Null], () =>
    returns(new IdempotencyKeyReused({}), refusalTexts.IdempotencyKeyReused.print)
  )
  it("IdempotencyKeyReused is read of an earlier version", () => {
    const said = "This Idempotency-Key was used for another request. Each call has a key of its own."
    assert.strictEqual(readRefusal(409, said)?._tag, "IdempotencyKeyReused")
  })
  it.prop("ImportRefused reads back", [Text], ([reason]) =>
    returns(new ImportRefused({ reason }), refusalTexts.ImportRefused.print)
  )
  it.prop("InvalidInput reads back", [Field, Text], ([field, issue]) =>
    returns(new InvalidInput({ field, issue }), refusalTexts.InvalidInput.print)
  )
  it.each(fields)("InvalidInput of %s is one of %s on the wire", (field, wire) => {
    assert.strictEqual(refusalTexts.InvalidInput.print(new InvalidInput({ field, issue: "no" })), `Invalid ${wire}: no`)
  })
  it.each([
    ["Email", "email"],
    ["Subaccount", "subaccount"],
    ["[2].CustomFields.Email", "[2].customFields.Email"],
    ["Nickname", "Nickname"],
    ["e-mail", "e-mail"],
    ["[0].Contact.EMail", "[0].Contact.EMail"]
  ])("InvalidInput of %s, as a service says, is one of %s", (said, field) => {
    assert.deepStrictEqual(readRefusal(400, `Invalid ${said}: no`), new InvalidInput({ field, issue: "no" }))
  })
  it("every field of a body has a name in code", () => {
    const { components, paths } = openApiDocument([])
    const names = new Set<string>()
    const collect = (schema: unknown): void => {
      for (const [key, value] of Object.entries(Predicate.isObject(schema) ? schema : {})) {
        if (key === "properties" && Predicate.isObject(value)) for (const name of Object.keys(value)) names.add(name)
        collect(key === "$ref" ? components.schemas[String(value).split("/").at(-1) ?? ""] : value)
      }
    }
    for (const { post, put } of Object.values(paths)) {
      for (const operation of [post, put]) collect(operation?.requestBody?.content["application/json"])
    }
    assert.isAbove(names.size, 30)
    for (const wire of names) {
      const code = codeField(wire)
      assert.deepStrictEqual([wireField(code), code === wire], [wire, false], wire)
    }
  })
  it.prop("InvalidRule reads back", [Count, Text], ([position, problem]) =>
    returns(new InvalidRule({ rule: "r", position, length: 1, problem, expected: [] }), refusalTexts.InvalidRule.print)
  )
  it.prop("ListNotFound reads back", [Text], ([name]) =>
    returns(new ListNotFound({ name }), refusalTexts.ListNotFound.print)
  )
  it.prop("LastManagingKey reads back", [Text], ([name]) =>
    returns(new LastManagingKey({ name }), refusalTexts.LastManagingKey.print)
  )
  it.prop("NameTaken reads back", [Text], ([name]) => returns(new NameTaken({ name }), refusalTexts.NameTaken.print))
  it.prop("NotAllowedSender reads back", [Word], ([email]) =>
    returns(new NotAllowedSender({ email }), refusalTexts.NotAllowedSender.print)
  )
  it.prop("RunNotFound reads back", [Word], ([run]) =>
    returns(new RunNotFound({ run }), refusalTexts.RunNotFound.print)
  )
  it.prop("JobNotFound reads back", [Word], ([id]) => returns(new JobNotFound({ id }), refusalTexts.JobNotFound.print))
  it.prop("JobEnded reads back", [Word], ([id]) =>
    returns(new JobEnded({ id, state: "Cancelled" }), refusalTexts.JobEnded.print)
  )
  it.prop("EmailNotFound reads back", [Word], ([id]) =>
    returns(new EmailNotFound({ id }), refusalTexts.EmailNotFound.print)
  )
  it.prop("SavedRuleNotFound reads back", [Text], ([name]) =>
    returns(new SavedRuleNotFound({ name }), refusalTexts.SavedRuleNotFound.print)
  )
  it.prop("RunTaken reads back", [Word], ([run]) => returns(new RunTaken({ run }), refusalTexts.RunTaken.print))
  it.prop("TooManyContacts reads back", [Count, Count], ([count, maximum]) =>
    returns(new TooManyContacts({ count, maximum }), refusalTexts.TooManyContacts.print)
  )
  it.prop("TooManyCredentials reads back", [Count], ([maximum]) =>
    returns(new TooManyCredentials({ maximum }), refusalTexts.TooManyCredentials.print)
  )

  it.each([
    { field: "expires", limit: "2090-01-01T00:00:00Z" },
    { field: "ipRanges", limit: "10.0.0.0/8" },
    { field: "ipRanges", limit: "192.0.2.7, 2001:db8::/32" }
  ] as const)("ExceedsGrantor reads back: %j", (fields) => {
    const error = new ExceedsGrantor(fields)
    const text = printExceedsGrantor(error)
    assert.deepStrictEqual(readExceedsGrantor(text), error)
    assert.include(text, fields.field === "expires" ? "Expires must be" : "RestrictAccessToIPRange must lie")
    assert.isUndefined(readExceedsGrantor(new AccessDenied({ required: "Export" }).message))
  })

  it.each([
    "the disk is full",
    "process 7 (a. b) held /a. Nothing/b.db for too long",
    "its file is damaged; restore a backup (roster restore FILE)"
  ])("StoreFailure reads back, and may be tried again: %s", (detail) => {
    const error = new StoreFailure({ detail })
    assert.deepStrictEqual(readStoreFailure(error.message), error)
    assert.isTrue(new ServiceError({ operation: "contactsPost", reason: error }).isRetryable)
    assert.isUndefined(readStoreFailure(new Unavailable({ status: 503, detail }).message))
  })

  it.each(["Unknown", "Ended", "OfAnotherKey", "TooLarge"] as const)("RunRefused reads back: %s", (why) => {
    const error = new RunRefused({ run: "20261128T101500Z-3fa85f64", why })
    assert.deepStrictEqual(readRunRefused(error.message), error)
    assert.isUndefined(readRunRefused(new RunTaken({ run: error.run }).message))
  })

  it("has a test for every tag", () => {
    assert.strictEqual(Object.keys(refusalTexts).length, 22)
  })

  it.prop(
    "what the rule parser says reads back",
    [
      Schema.Literals([
        "status ~ 1",
        "",
        "(",
        "a = 'x",
        "email = 'from email address <a@b.c> is not allowed' )",
        'status = "either a rule or a list of e-mails, not both" x'
      ])
    ],
    ([rule]) => {
      const parsed = parseRule(rule)
      if (Result.isSuccess(parsed)) throw new Error(`${rule} is a rule`)
      returns(parsed.failure, refusalTexts.InvalidRule.print)
    }
  )

  it("have the statuses of the service interface", () => {
    const status = (tag: Refusal["_tag"]) => refusalTexts[tag].status
    assert.deepStrictEqual(
      [
        "NotAllowedSender",
        "TooManyContacts",
        "ConflictingFilter",
        "InvalidRule",
        "InvalidInput",
        "ListNotFound",
        "ImportRefused"
      ].filter((tag) => Object.entries(refusalTexts).some(([name, text]) => name === tag && text.status !== 400)),
      []
    )
    assert.deepStrictEqual(
      [status("ContactNotFound"), status("CredentialNotFound"), status("ExportNotFound")],
      [404, 404, 404]
    )
    assert.deepStrictEqual([status("NameTaken"), status("LastManagingKey")], [409, 409])
  })

  it("say of a sender what the interface says, with the address", () => {
    // What the interface says of a refused sender: "the from e-mail address <EMAIL> is not allowed".
    assert.include(
      refusalTexts.NotAllowedSender.print(new NotAllowedSender({ email: "eve@evil.test" })),
      "from e-mail address <eve@evil.test> is not allowed"
    )
  })

  it.each([
    "The from email address <eve@evil.test> is not allowed.",
    "From e-mail address eve@evil.test is not allowed",
    "Sending failed: from Email address <eve@evil.test> is not allowed for this account"
  ])("know a sender that is not allowed in other words: %s", (text) => {
    const refusal = readRefusal(400, text)
    assert.strictEqual(refusal?._tag === "NotAllowedSender" ? refusal.email : undefined, "eve@evil.test")
  })

  it.each([
    [404, "The from e-mail address <a@example.com> is not allowed."],
    [400, "There is no contact a@example.com."],
    [400, "Something else"],
    [500, "Invalid Email: x"],
    [409, ""]
  ])("do not make an error of status %i with the text %j", (status, text) => {
    assert.isUndefined(readRefusal(status, text))
  })
})
