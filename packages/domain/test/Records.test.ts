import { assert, describe, it } from "@effect/vitest"
import { DateTime, Redacted, Result, Schema } from "effect"
import { inspect } from "node:util"
import { ApiKey, ApiKeyPayload, NewApiKey } from "../src/credentials/ApiKey.ts"
import { Contact, ContactPayload } from "../src/contacts/Contact.ts"
import { ContactStatus, UpdateRecord } from "../src/contacts/ContactRecord.ts"
import { EmailsPayload } from "../src/rules/ContactFilter.ts"
import { EmailMessage, EmailSend } from "../src/emails/EmailMessage.ts"
import { ExportId, ExportLink, ExportStatus } from "../src/jobs/Export.ts"
import { NewSmtpCredentials, SmtpCredentials, SmtpCredentialsPayload } from "../src/credentials/SmtpCredentials.ts"

/** Records as the public service's documents spell them: every field of each, in the form that is sent. */
const wire = {
  contact: {
    Email: "mike.brown@example.com",
    Status: "Active",
    FirstName: "Mike",
    LastName: "Brown",
    CustomFields: { city: "Łódź", age: "34" },
    Consent: { ConsentIP: "192.168.0.1", ConsentDate: "2021-01-01T12:00:00Z", ConsentTracking: "Allow" },
    Source: "ContactApi",
    DateAdded: "2021-01-01T00:00:00Z",
    DateUpdated: "2021-05-06T07:08:09Z",
    StatusChangeDate: null,
    Activity: {
      TotalSent: 12,
      TotalOpened: 5,
      TotalClicked: 2,
      TotalFailed: 0,
      LastSent: "2021-05-01T00:00:00Z",
      LastOpened: null,
      LastClicked: null,
      LastFailed: null,
      LastIP: "192.168.0.1",
      ErrorCode: null,
      FriendlyErrorMessage: ""
    }
  },
  contactPayload: {
    Email: "mike.brown@example.com",
    Status: "Transactional",
    FirstName: "Mike",
    LastName: "Brown",
    CustomFields: { city: "Łódź", age: "34" },
    Consent: { ConsentIP: "192.168.0.1", ConsentDate: null, ConsentTracking: "Unknown" }
  },
  contactUpdatePayload: { FirstName: "Mike", LastName: "Brown", CustomFields: { city: "Łódź" } },
  emailsByRule: { Rule: "Status = Engaged" },
  emailsByList: { Emails: ["mike.brown@example.com"] },
  exportLink: {
    Link: "https://example.com/exports/3fa85f64-5717-4562-b3fc-2c963f66afa6/file.csv",
    PublicExportID: "3fa85f64-5717-4562-b3fc-2c963f66afa6"
  },
  apiKey: {
    Name: "New API Key",
    AccessLevel: ["ViewContacts", "Export"],
    DateCreated: "2021-01-01T00:00:00Z",
    LastUse: null,
    Expires: "2031-01-01T00:00:00Z",
    RestrictAccessToIPRange: ["1.2.3.4", "5.5.5.5/24"]
  },
  smtp: {
    Name: "john@example.com",
    AccessLevel: "SendSmtp",
    DateCreated: "2021-01-01T00:00:00Z",
    LastUse: "2021-02-01T00:00:00Z",
    Expires: null,
    RestrictAccessToIPRange: []
  },
  apiKeyPayload: {
    Name: "New API Key",
    AccessLevel: ["Security", "ViewAITools"],
    Expires: "2031-01-01T00:00:00Z",
    RestrictAccessToIPRange: ["1.2.3.4", "2001:db8::/32"],
    Subaccount: "sub@example.com"
  },
  smtpPayload: {
    Name: "john@example.com",
    Expires: null,
    RestrictAccessToIPRange: ["10.0.0.0/8"],
    Subaccount: "sub@example.com"
  },
  message: {
    Recipients: [{ Email: "mike@example.com", Fields: { city: "Łódź" } }],
    Content: {
      Body: [{ ContentType: "HTML", Content: "<b>Hi</b>", Charset: "utf-8" }],
      Merge: { city: "Łódź" },
      Attachments: [{ BinaryContent: "SGk=", Name: "hi.txt", ContentType: "text/plain", Size: 2 }],
      Headers: { "X-Campaign": "spring" },
      Postback: "p",
      EnvelopeFrom: "John <john@example.com>",
      From: "John Doe <john@example.com>",
      ReplyTo: "John <john@example.com>",
      Subject: "Hello",
      TemplateName: "Template01",
      AttachFiles: ["preuploaded.jpg"],
      Utm: { Source: "s", Medium: "m", Campaign: "c", Content: "x" }
    },
    Options: {
      TimeOffset: 10,
      PoolName: "My pool",
      ChannelName: "c",
      Encoding: "Base64",
      TrackOpens: true,
      TrackClicks: false
    }
  },
  emailSend: { TransactionID: "ca3a8c28-1b1b-4b1b-8b1b-000000000001", MessageID: "abc" }
} as const

const roundTrip = <T, E>(schema: Schema.Codec<T, E>, value: unknown): unknown =>
  Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(value))

describe("records on the wire", () => {
  it("come back as they went", () => {
    assert.deepStrictEqual(roundTrip(Contact, wire.contact), wire.contact)
    assert.deepStrictEqual(roundTrip(ContactPayload, wire.contactPayload), wire.contactPayload)
    assert.deepStrictEqual(roundTrip(UpdateRecord, wire.contactUpdatePayload), wire.contactUpdatePayload)
    assert.deepStrictEqual(roundTrip(EmailsPayload, wire.emailsByRule), wire.emailsByRule)
    assert.deepStrictEqual(roundTrip(EmailsPayload, wire.emailsByList), wire.emailsByList)
    assert.deepStrictEqual(roundTrip(ExportLink, wire.exportLink), wire.exportLink)
    assert.deepStrictEqual(roundTrip(ApiKey, wire.apiKey), wire.apiKey)
    assert.deepStrictEqual(roundTrip(SmtpCredentials, wire.smtp), wire.smtp)
    assert.deepStrictEqual(roundTrip(ApiKeyPayload, wire.apiKeyPayload), wire.apiKeyPayload)
    assert.deepStrictEqual(roundTrip(SmtpCredentialsPayload, wire.smtpPayload), wire.smtpPayload)
    assert.deepStrictEqual(roundTrip(EmailMessage, wire.message), wire.message)
    assert.deepStrictEqual(roundTrip(EmailSend, wire.emailSend), wire.emailSend)
  })

  it("decode missing fields as absent and invent nothing", () => {
    const bare = { Email: "mike@example.com" }
    assert.deepStrictEqual(Schema.decodeSync(Contact)(bare), { email: "mike@example.com" })
    assert.deepStrictEqual(roundTrip(Contact, bare), bare)
    assert.deepStrictEqual(roundTrip(SmtpCredentials, { Name: "a@example.com" }), { Name: "a@example.com" })
    assert.deepStrictEqual(roundTrip(EmailSend, {}), {})
  })

  it("carry no field that the interface does not list", () => {
    const later = { ...wire.contact, Score: 7, Activity: { ...wire.contact.Activity, TotalPrinted: 1 } }
    assert.deepStrictEqual(roundTrip(Contact, later), wire.contact)
  })

  it("read dates in every form and send them in one", () => {
    const contact = Schema.decodeSync(Contact)({
      Email: "a@example.com",
      DateAdded: "2021-01-01T02:00:00.1234567+02:00",
      Consent: { ConsentDate: "2021-06-01T00:00:00" }
    })
    assert.strictEqual(
      contact.dateAdded === undefined ? undefined : DateTime.formatIso(contact.dateAdded),
      "2021-01-01T00:00:00.123Z"
    )
    assert.deepStrictEqual(Schema.encodeSync(Contact)(contact), {
      Email: "a@example.com",
      DateAdded: "2021-01-01T00:00:00Z",
      Consent: { ConsentDate: "2021-06-01T00:00:00Z" }
    })
  })

  it("keep custom fields with the names of an object's own machinery", () => {
    // JSON.parse makes these own properties, which an assignment would not.
    const body: unknown = JSON.parse(
      `{"Email":"a@example.com","CustomFields":{"__proto__":"p","constructor":"c","toString":"t","":"e"}}`
    )
    const payload = Schema.decodeUnknownSync(ContactPayload)(body)
    assert.deepStrictEqual(Object.entries(payload.customFields ?? {}).sort(), [
      ["", "e"],
      ["__proto__", "p"],
      ["constructor", "c"],
      ["toString", "t"]
    ])
    assert.strictEqual(JSON.stringify(Schema.encodeSync(ContactPayload)(payload)), JSON.stringify(body))
  })

  it.each([
    ["a custom field that is no text", ContactPayload, { Email: "a@example.com", CustomFields: { age: 34 } }],
    ["a contact without address", ContactPayload, { FirstName: "A" }],
    ["a contact with a bad address", ContactPayload, { Email: "a b@example.com" }],
    ["an API key without levels", ApiKeyPayload, { Name: "k" }],
    ["an API key with one level that is no list", ApiKeyPayload, { Name: "k", AccessLevel: "Export" }],
    ["a credential without name", ApiKeyPayload, { AccessLevel: [] }],
    [
      "a credential restricted to no address",
      ApiKeyPayload,
      { Name: "k", AccessLevel: [], RestrictAccessToIPRange: ["here"] }
    ],
    ["an SMTP name that is no e-mail", SmtpCredentialsPayload, { Name: "john" }],
    ["a message to nobody", EmailMessage, { Recipients: [], Content: { From: "a@example.com" } }],
    ["a message from nobody", EmailMessage, { Recipients: [{ Email: "a@example.com" }], Content: {} }],
    ["an expiry on 30 February", ApiKeyPayload, { Name: "k", AccessLevel: [], Expires: "2024-02-30T00:00:00Z" }]
  ])("refuse %s", (_, schema: Schema.Codec<unknown, unknown>, value) => {
    assert.isTrue(Result.isFailure(Schema.decodeResult(schema)(value)))
  })

  it("take 1000 recipients and no more", () => {
    const message = (count: number) => ({
      Recipients: Array.from({ length: count }, (_, i) => ({ Email: `r${i}@example.com` })),
      Content: { From: "a@example.com" }
    })
    const decode = Schema.decodeUnknownResult(EmailMessage)
    assert.deepStrictEqual(
      [Result.isSuccess(decode(message(1000))), Result.isSuccess(decode(message(1001)))],
      [true, false]
    )
  })

  it.each([
    ["3fa85f64-5717-4562-b3fc-2c963f66afa6", true],
    ["3FA85F64-5717-4562-B3FC-2C963F66AFA6", true],
    ["3fa85f6457174562b3fc2c963f66afa6", false],
    ["../../etc/passwd", false],
    ["", false]
  ])("know whether %j is an export id", (id, valid) => assert.strictEqual(Schema.is(ExportId)(id), valid))
})

describe("answers", () => {
  it("have null for what they do not have, in every field that may be missing", () => {
    const nulls = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, null]))
    const apiKey = { Name: "a", AccessLevel: [] }
    const dates = ["DateCreated", "LastUse", "Expires"]
    const more = { ...nulls(dates), RestrictAccessToIPRange: null }
    const none = { lastUse: null, expires: null }
    assert.deepStrictEqual<unknown>(Schema.decodeSync(ApiKey)({ ...apiKey, ...more }), {
      name: "a",
      accessLevels: [],
      ...none
    })
    const smtp = Schema.decodeSync(SmtpCredentials)({ Name: "a", AccessLevel: null, ...more })
    assert.deepStrictEqual<unknown>(smtp, { name: "a", ...none })
    const empty = Object.fromEntries(dates.map((name) => [name, ""]))
    assert.deepStrictEqual<unknown>(Schema.decodeSync(SmtpCredentials)({ Name: "a", ...empty }), { name: "a" })
    assert.deepStrictEqual<unknown>(Schema.decodeSync(EmailSend)({ TransactionID: null }), {})
  })
})

describe("open enumerations", () => {
  it("keep a value that the service added yesterday", () => {
    const later = {
      ...wire.contact,
      Status: "Hibernating",
      Source: "Telepathy",
      Consent: { ...wire.contact.Consent, ConsentTracking: "Maybe" }
    }
    assert.deepStrictEqual(roundTrip(Contact, later), later)
    const key = { ...wire.apiKey, AccessLevel: ["ViewContacts", "ViewDreams"] }
    assert.deepStrictEqual(roundTrip(ApiKey, key), key)
    assert.deepStrictEqual(roundTrip(SmtpCredentials, { ...wire.smtp, AccessLevel: "SendPigeon" }), {
      ...wire.smtp,
      AccessLevel: "SendPigeon"
    })
    assert.strictEqual<string>(Schema.decodeSync(ExportStatus)("Paused"), "Paused")
  })

  it("are closed in requests", () => {
    const refuses = (schema: Schema.Codec<unknown, unknown>, value: unknown) =>
      assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(schema)(value)))
    refuses(ContactPayload, { ...wire.contactPayload, Status: "Hibernating" })
    refuses(ContactPayload, { ...wire.contactPayload, Status: "active" })
    refuses(ContactPayload, { ...wire.contactPayload, Consent: { ConsentTracking: "Maybe" } })
    refuses(ApiKeyPayload, { ...wire.apiKeyPayload, AccessLevel: ["ViewDreams"] })
  })

  it("still refuse values that are not texts", () => {
    assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(Contact)({ ...wire.contact, Status: 3 })))
  })

  it.prop("decode every known value to itself", [ContactStatus], ([status]) => {
    assert.strictEqual<string | undefined>(
      Schema.decodeSync(Contact)({ Email: "a@example.com", Status: status }).status,
      status
    )
  })
})

describe("secrets", () => {
  const secret = "canary-5b1f0c"
  const key = Schema.decodeSync(NewApiKey)({ ...wire.apiKey, Token: secret })
  const smtp = Schema.decodeSync(NewSmtpCredentials)({ ...wire.smtp, Token: secret })

  it("are redacted as soon as they are read", () => {
    for (const shown of [
      String(key.token),
      JSON.stringify(key),
      inspect(key, { depth: Infinity }),
      JSON.stringify(smtp),
      inspect(smtp, { depth: Infinity })
    ]) {
      assert.notInclude(shown, secret)
    }
    assert.strictEqual(Redacted.value(key.token), secret)
  })

  it("go over the wire once", () => {
    assert.deepStrictEqual(Schema.encodeSync(NewApiKey)(key), { ...wire.apiKey, Token: secret })
    assert.deepStrictEqual(Schema.encodeSync(NewSmtpCredentials)(smtp), { ...wire.smtp, Token: secret })
    assert.deepStrictEqual(Schema.encodeUnknownSync(ApiKey)(key), wire.apiKey)
  })

  it("are in no message about a record that cannot be read", () => {
    for (const schema of [NewApiKey, NewSmtpCredentials]) {
      const result = Schema.decodeUnknownResult(schema)({ Name: 1, Token: secret })
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) assert.notInclude(`${result.failure.message} ${inspect(result.failure)}`, secret)
    }
  })
})
