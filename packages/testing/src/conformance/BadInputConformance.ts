/**
 * On every layer, input that no compiler would accept (from plain JavaScript, or casts) is refused with the name of its
 * field, and none of it is carried out.
 */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import {
  type ApiKeyPayload,
  type ContactPayload,
  type ImportRow,
  ContactsService,
  type ContactUpdatePayload,
  CredentialsService,
  type EmailMessage,
  EmailsService,
  maximumIpRanges,
  ServiceError,
  type SmtpCredentialsPayload
} from "@roster/domain"
import { addAll, addRows, changeAsRun, importContacts, RunLog } from "@roster/workflows"
import { DateTime, Effect, Result, Stream } from "effect"
import { badFilters } from "./BadFilterConformance.ts"
import { apiKeys, arrange, smtp, soon } from "./credentials/CredentialKind.ts"
import { file, utf8 } from "./jobs/Importing.ts"
import { place } from "./cases/Place.ts"
import { refused } from "./cases/Refused.ts"
import { noTexts, unchecked } from "./cases/Unchecked.ts"

type Case = readonly [field: string, change: Readonly<Record<string, unknown>>]

const profileCases: ReadonlyArray<Case> = [
  ...["firstName", "lastName"].flatMap((name) => noTexts.map((value): Case => [name, { [name]: value }])),
  ...["firstname", "FirstName", "nickname", "ip"].map((name): Case => [name, { [name]: "A" }]),
  ["firstname", { firstname: undefined }],
  ...[null, 7, "x", ["x"]].map((value): Case => ["customFields", { customFields: value }]),
  ...[...noTexts, undefined].map((value): Case => ["customFields.age", { customFields: { city: "Oslo", age: value } }])
]

/** Instants that the years of the wire do not have, and one that no calendar has. */
const beyondCalendar = [Date.UTC(10_000), 8.64e15, -62_167_219_200_001, Number.POSITIVE_INFINITY].map((at) =>
  DateTime.addDuration(DateTime.makeUnsafe(0), at)
)

/** What is read of a contact, and set by the service alone. */
const readOnly: ReadonlyArray<Case> = Object.entries({
  source: "WebForm",
  dateAdded: soon,
  dateUpdated: null,
  statusChangeDate: null,
  activity: { totalSent: 1 }
}).map(([name, value]) => [name, { [name]: value }])

const updateCases: ReadonlyArray<Case> = [
  ...profileCases,
  ...readOnly,
  ["email", { email: "b@example.com" }],
  ...["Unsubscribed", "Hibernating", ...noTexts].map((value): Case => ["status", { status: value }]),
  ...[{ tracking: "Deny" }, {}, null].map((value): Case => ["consent", { consent: value }])
]

const manyNames = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`n${n}`, "x"]))

const contactCases: ReadonlyArray<Case> = [
  ...profileCases,
  ["customFields", { customFields: manyNames }],
  ...readOnly,
  ...[...noTexts, undefined, "nobody", " a@example.com"].map((value): Case => ["email", { email: value }]),
  ...[...noTexts, "Hibernating", "active", ""].map((value): Case => ["status", { status: value }]),
  ...[null, 7, "x", ["x"]].map((value): Case => ["consent", { consent: value }]),
  ...noTexts.map((value): Case => ["consent.ip", { consent: { ip: value } }]),
  ...["IP", "consentIP", "firstName"].map((name): Case => [`consent.${name}`, { consent: { [name]: "192.0.2.1" } }]),
  ...[7, "2024-01-02T03:04:05Z", {}, new Date(0), ...beyondCalendar].map((value): Case => [
    "consent.date",
    { consent: { date: value } }
  ]),
  ...[...noTexts, "Perhaps", "allow"].map((value): Case => ["consent.tracking", { consent: { tracking: value } }])
]

/** What a creation needs, and an update may leave out. */
const isLeftOut = ([, change]: Case): boolean =>
  ["name", "accessLevels"].some((name) => name in change && change[name] === undefined)

const limitCases: ReadonlyArray<Case> = [
  ["dateCreated", { dateCreated: soon }],
  ["lastUse", { lastUse: null }],
  ["token", { token: "x" }],
  ...["expire", "Expires", "ipranges", "RestrictAccessToIPRange", "subAccount"].map((name): Case => [
    name,
    { [name]: undefined }
  ]),
  ...[7, "soon", "2030-02-30", {}, new Date(0), ...beyondCalendar].map((value): Case => [
    "expires",
    { expires: value }
  ]),
  ...[null, 7, "192.0.2.1"].map((value): Case => ["ipRanges", { ipRanges: value }]),
  ...[null, 7, "the office"].map((value): Case => ["ipRanges[1]", { ipRanges: ["192.0.2.1", value] }]),
  ["ipRanges", { ipRanges: Array.from({ length: maximumIpRanges + 1 }, (_, n) => `10.0.${n >> 8}.${n & 255}`) }],
  ...[null, 7, "nobody"].map((value): Case => ["subaccount", { subaccount: value }])
]

const keyCases: ReadonlyArray<Case> = [
  ...limitCases,
  ["accessLevel", { accessLevel: "SendSmtp" }],
  // A key for purposes.
  ["expire", { for: ["contacts:read"], expire: "2099-01-02T03:04:05Z" }],
  ...[...noTexts, undefined, "", " padded", "a\nb"].map((value): Case => ["name", { name: value }]),
  ...[null, undefined, 7, "Export"].map((value): Case => ["accessLevels", { accessLevels: value }]),
  ...[null, 7, "Hibernating"].map((value): Case => ["accessLevels[1]", { accessLevels: ["Export", value] }])
]

const smtpCases: ReadonlyArray<Case> = [
  ...limitCases,
  ["accessLevels", { accessLevels: ["SendSmtp"] }],
  ...[...noTexts, undefined, "john"].map((value): Case => ["name", { name: value }])
]

const recipients = [{ email: "someone@elsewhere.test" }]
const content = { from: "john@example.com", subject: "Hello" }
const inContent = (field: string, name: string, values: ReadonlyArray<unknown>): ReadonlyArray<Case> =>
  values.map((value) => [`content.${field}`, { recipients, content: { ...content, [name]: value } }])
const inOptions = (field: string, name: string, values: ReadonlyArray<unknown>): ReadonlyArray<Case> =>
  values.map((value) => [`options.${field}`, { recipients, content, options: { [name]: value } }])

const longCases: ReadonlyArray<Case> = [
  ["recipients[0].fields", { recipients: [{ email: "someone@elsewhere.test", fields: manyNames }], content }],
  ...inContent("merge", "merge", [manyNames]),
  ...inContent("headers", "headers", [manyNames, { [`X-${"x".repeat(16_384)}`]: "x" }]),
  ...inContent("headers.X-Note", "headers", [{ "X-Note": "x".repeat(16_385) }]),
  ...inContent("from", "from", [`${"x".repeat(16_384)} <john@example.com>`]),
  ...inContent("subject", "subject", ["x".repeat(16_385)])
]

/** What would end a line of the head of a mail, or stands in none. */
const breaks = ["a\r\nBcc: eve@evil.test", "a\n", "\ra", "a\0b", "a\u001b[2Jb", "a\u0085b", "a\u007f"]

const headCases: ReadonlyArray<Case> = breaks.flatMap((text): ReadonlyArray<Case> => [
  ["recipients[0].email", { recipients: [{ email: `someone@elsewhere.test${text}` }], content }],
  ...inContent("from", "from", [`${text} <john@example.com>`]),
  ...inContent("subject", "subject", [text]),
  ...inContent("replyTo", "replyTo", [`jane@example.com${text}`]),
  ...inContent("envelopeFrom", "envelopeFrom", [`john@example.com${text}`]),
  ...inContent("postback", "postback", [text]),
  ...inContent("templateName", "templateName", [text]),
  ...inContent("attachFiles[1]", "attachFiles", [["a.txt", text]]),
  ...inContent("attachments[0].name", "attachments", [[{ name: text, binaryContent: "" }]]),
  ...inContent("attachments[0].contentType", "attachments", [[{ name: "x", binaryContent: "", contentType: text }]]),
  ...inContent("body[0].charset", "body", [[{ contentType: "HTML", content: text, charset: text }]]),
  ...inContent("headers.X-A", "headers", [{ "X-Before": "fine", "X-A": text }]),
  ...inContent("headers", "headers", [{ [text]: "fine" }]),
  ...inContent("utm.source", "utm", [{ source: text }]),
  ...inOptions("channelName", "channelName", [text])
])

const messageCases: ReadonlyArray<Case> = [
  ...headCases,
  ...longCases,
  ["option", { recipients, content, option: {} }],
  ["recipients[0].mergeFields", { recipients: [{ email: "a@example.com", mergeFields: {} }], content }],
  ...inContent("subjet", "subjet", ["Hello", undefined]),
  ...inContent("body[0].contenttype", "body", [[{ contentType: "HTML", contenttype: "HTML" }]]),
  ...inContent("attachments[0].filename", "attachments", [[{ name: "x", binaryContent: "", filename: "x" }]]),
  ...inContent("utm.sorce", "utm", [{ sorce: "x" }]),
  ...inOptions("trackopens", "trackopens", [false]),
  ...inContent("headers", "headers", [
    { "Bcc: eve@evil.test, X": "fine" },
    { "X A": "fine" },
    { "": "fine" },
    { Ü: "x" }
  ]),
  ...[null, undefined, 7, {}, []].map((value): Case => ["recipients", { recipients: value, content }]),
  ...[null, 7, "x"].map((value): Case => ["recipients[0]", { recipients: [value], content }]),
  ...noTexts.map((value): Case => ["recipients[0].email", { recipients: [{ email: value }], content }]),
  ...noTexts.map((value): Case => [
    "recipients[0].fields.a",
    { recipients: [{ email: "a@example.com", fields: { a: value } }], content }
  ]),
  ...[null, undefined, 7].map((value): Case => ["content", { recipients, content: value }]),
  ...inContent("from", "from", [...noTexts, undefined]),
  ...inContent("body", "body", [null, "x"]),
  ...inContent("body[0].contentType", "body", [[{ contentType: "Papyrus" }], [{}]]),
  ...inContent("merge.a", "merge", [{ a: 7 }]),
  ...inContent("headers", "headers", [null, "x"]),
  ...inContent("attachments[0].binaryContent", "attachments", [[{ name: "x" }]]),
  ...inContent("attachments[0].size", "attachments", [[{ name: "x", binaryContent: "", size: 1.5 }]]),
  ...inContent("attachFiles[0]", "attachFiles", [[7]]),
  ...inContent("replyTo", "replyTo", [7]),
  ...inContent("subject", "subject", [7, {}]),
  ...inContent("utm", "utm", [null, 7]),
  ...inContent("utm.source", "utm", [{ source: 7 }]),
  ...[null, 7].map((value): Case => ["options", { recipients, content, options: value }]),
  ...inOptions("timeOffset", "timeOffset", [1.5, "1"]),
  ...inOptions("trackOpens", "trackOpens", ["true", 1]),
  ...inOptions("poolName", "poolName", [7])
]

/** All cases at once; the index tells them apart. */
const shown = (cases: ReadonlyArray<Case>, at: number) => `case ${at}: ${cases[at]?.[0]}`

const rowOf = (contact: ContactPayload, index: number): ImportRow => ({
  line: index + 2,
  header: { cells: ["Email"], delimiter: "," },
  cells: [],
  contact: Result.succeed(contact)
})

/** A field as the report of a row names it, by its column. */
const inColumns = (field: string): string => {
  const columns = Object.entries({
    email: "Email",
    status: "Status",
    firstName: "FirstName",
    lastName: "LastName",
    customFields: "CustomFields",
    "customFields.age": "CustomFields.age",
    consent: "Consent",
    "consent.ip": "Consent.ConsentIP",
    "consent.date": "Consent.ConsentDate",
    "consent.tracking": "Consent.ConsentTracking"
  })
  // A name that no field has stays as it was given.
  return columns.find(([name]) => name === field)?.[1] ?? field.replace(/^consent\./, "Consent.")
}

const area = "what no compiler would let through is refused by its field"

export const badContactsConformance = (it: Cases<ContactsService>): void => {
  it.describe(area, () => {
    it.effect("in a contact to add", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        for (const [at, [field, change]] of contactCases.entries()) {
          const some = [{ email: email("good") }, unchecked<ContactPayload>({ email: email("bad"), ...change })]
          const error = yield* refused(contacts.add(some), "InvalidInput")
          assert.strictEqual(error.field, `[1].${field}`, shown(contactCases, at))
          const withoutAnswer = yield* refused(contacts.addWithoutAnswer(some), "InvalidInput")
          assert.deepStrictEqual(withoutAnswer, error, shown(contactCases, at))
        }
        for (const value of [null, undefined, 7, "x"]) {
          const error = yield* refused(contacts.add([{ email: email("good") }, unchecked(value)]), "InvalidInput")
          assert.strictEqual(error.field, "[1]")
          yield* refused(contacts.add(unchecked(value)), "InvalidInput")
        }
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
      })
    )

    it.effect("in a contact of many: it is refused alone, by its own place and address", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const bad = contactCases.map(([, change], at) =>
          unchecked<ContactPayload>({ email: email(`bad${at}`), ...change })
        )
        const some = bad.flatMap((contact, at) => [{ email: email(`good${at}`) }, contact])
        const outcomes = yield* Stream.runCollect(addAll(Stream.fromIterable(some)))
        assert.deepStrictEqual(
          outcomes.map((outcome) =>
            outcome._tag === "Refused" ? [outcome.index, outcome.email, outcome.error.field] : outcome._tag
          ),
          contactCases.flatMap(([field, change], at) => {
            const address = "email" in change ? change["email"] : `bad${at}@${domain}`
            return ["Accepted", [2 * at + 1, typeof address === "string" ? address : "", field]]
          })
        )
        assert.strictEqual((yield* contacts.list({ rule, limit: 1000 })).length, bad.length)
      })
    )

    it.effect("in the rows of an upload: each is rejected by its line, and the others are sent", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const bad = contactCases.map(([, change], at) =>
          unchecked<ContactPayload>({ email: email(`bad${at}`), ...change })
        )
        const rows = Stream.fromIterable(
          bad.flatMap((contact, at) => [{ email: email(`good${at}`) }, contact]).map(rowOf)
        )
        const rejected = contactCases.map(([field], at) => [2 * at + 3, inColumns(field)])
        const said = (rows: ReadonlyArray<{ readonly line: number; readonly reason: string }>) =>
          rows.map(({ line, reason }) => [line, reason.split(": ")[0]])
        const added = yield* addRows(rows)
        assert.deepStrictEqual([added.done, said(added.rejectedRows)], [bad.length, rejected])
        yield* importContacts(rows, { record: false }).pipe(
          Effect.provide(RunLog.layerMemory()),
          Effect.map((report) => {
            assert.deepStrictEqual([report.done, said(report.rejectedRows)], [bad.length, rejected])
            assert.deepStrictEqual([report.notSent, report.unknown, report.duplicates], [0, 0, 0])
          })
        )
        assert.strictEqual((yield* contacts.list({ rule, limit: 1000 })).length, bad.length)
      })
    )

    it.effect("in a change", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("a")
        const [before] = yield* contacts.add([{ email, firstName: "A", customFields: { age: "1" } }])
        for (const [at, [field, change]] of updateCases.entries()) {
          const error = yield* refused(contacts.update(email, unchecked<ContactUpdatePayload>(change)), "InvalidInput")
          assert.strictEqual(error.field, field, shown(updateCases, at))
        }
        const unsubscribed = unchecked<ContactUpdatePayload>({ status: "Unsubscribed" })
        const { message } = yield* refused(contacts.update(email, unsubscribed), "InvalidInput")
        assert.include(message, "changeAsRun")
        for (const status of ["active", 7, null]) {
          const changed = changeAsRun(
            { email, write: { status: unchecked<"Active">(status) } },
            { command: "status" }
          ).pipe(Effect.provide(RunLog.layerMemory()))
          assert.strictEqual((yield* refused(changed, "InvalidInput")).field, "status")
        }
        for (const value of [null, undefined, 7, "x"]) {
          yield* refused(contacts.update(email, unchecked(value)), "InvalidInput")
        }
        assert.deepStrictEqual(yield* contacts.get(email), before)
      })
    )

    it.effect("in addresses, names, numbers and formats", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("a")
        for (const value of [null, undefined, 7, {}]) {
          assert.strictEqual((yield* refused(contacts.get(unchecked(value)), "InvalidInput")).field, "email")
          assert.strictEqual((yield* refused(contacts.update(unchecked(value), {}), "InvalidInput")).field, "email")
          assert.strictEqual((yield* refused(contacts.delete(unchecked(value)), "InvalidInput")).field, "email")
          const named = contacts.add([{ email }], { listNames: [unchecked(value)] })
          assert.strictEqual((yield* refused(named, "InvalidInput")).field, "listNames")
        }
        for (const value of [null, 7, {}, { text: 7 }]) {
          assert.strictEqual((yield* refused(contacts.list({ rule: unchecked(value) }), "InvalidInput")).field, "rule")
        }
        for (const value of [null, "7", 1.5, -1, Number.NaN]) {
          assert.strictEqual(
            (yield* refused(contacts.list({ limit: unchecked(value) }), "InvalidInput")).field,
            "limit"
          )
          assert.strictEqual(
            (yield* refused(contacts.list({ offset: unchecked(value) }), "InvalidInput")).field,
            "offset"
          )
        }
        for (const [name, value] of [
          ["fileFormat", "Pdf"],
          ["fileFormat", null],
          ["compressionFormat", "Rar"],
          ["compressionFormat", 7],
          ["fileName", 7],
          ["fileName", "a\ud800"]
        ] as const) {
          const exported = contacts.export(unchecked({ [name]: value }))
          assert.strictEqual((yield* refused(exported, "InvalidInput")).field, name)
        }
        for (const [name, value] of [
          ["listName", 7],
          ["listName", "a\ud800"],
          ["listName", "\0"],
          ["listName", "a\nb"],
          ["listName", " "],
          ["encodingName", 7],
          ["encodingName", "a\ud800"]
        ] as const) {
          const imported = contacts.import(file(utf8("Email\n")), unchecked({ [name]: value }))
          assert.strictEqual((yield* refused(imported, "InvalidInput")).field, name)
        }
        yield* refused(contacts.get(email), "ContactNotFound")
      })
    )

    it.effect("in the name of a list: nothing is sent, and no contact is blamed for it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        for (const [name, count] of [
          [" ", 1000],
          ["a\nb", 1],
          ["a\ud800", 2],
          [unchecked<string>(7), 2]
        ] as const) {
          const people = Array.from({ length: count }, (_, i) => ({ email: email(`p${i}`) }))
          const options = { listNames: ["fine", name] }
          const outcomes = yield* addAll(Stream.fromIterable(people), options).pipe(
            Stream.catchTag("Stopped", () => Stream.empty),
            Stream.runCollect
          )
          const errors = new Set(outcomes.map((outcome) => (outcome._tag === "NotSent" ? outcome.error : outcome._tag)))
          const [error] = errors
          const reason = error instanceof ServiceError ? error.reason : undefined
          assert.deepStrictEqual([outcomes.length, errors.size, reason?._tag], [count, 1, "Rejected"])
          assert.match(reason?.message ?? "", /400.*Invalid listNames: /)
          const stopped = yield* Effect.flip(addRows(Stream.fromIterable(people.map(rowOf)), options))
          if (stopped._tag !== "Stopped") return assert.fail(stopped._tag)
          const { cause, report } = stopped
          assert.deepStrictEqual([report.notSent, report.rejected, cause], [count, 0, error])
        }
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
      })
    )

    badFilters(it)
  })
}

export const badCredentialsConformance = (it: Cases<CredentialsService>): void => {
  it.describe(area, () => {
    it.effect("in an API key", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(apiKeys)
        yield* credentials.create(apiKeys.payload(name("there"), { subaccount }))
        const before = yield* credentials.list({ subaccount })
        for (const [at, [field, change]] of keyCases.entries()) {
          const bad = unchecked<ApiKeyPayload>({ ...apiKeys.payload(name("new"), { subaccount }), ...change })
          const made = yield* refused(credentials.create(bad), "InvalidInput")
          assert.strictEqual(made.field, field, shown(keyCases, at))
          if (isLeftOut([field, change])) continue
          const changed = yield* refused(credentials.update(name("there"), bad), "InvalidInput")
          assert.strictEqual(changed.field, field, shown(keyCases, at))
        }
        for (const value of [null, undefined, 7, "x"]) {
          yield* refused(credentials.create(unchecked(value)), "InvalidInput")
          yield* refused(credentials.update(name("there"), unchecked(value)), "InvalidInput")
        }
        assert.deepStrictEqual(yield* credentials.list({ subaccount }), before)
      })
    )

    it.effect("in SMTP credentials", () =>
      Effect.gen(function* () {
        const { credentials, name, subaccount } = yield* arrange(smtp)
        yield* credentials.create(smtp.payload(name("there"), { subaccount }))
        const before = yield* credentials.list({ subaccount })
        for (const [at, [field, change]] of smtpCases.entries()) {
          const bad = unchecked<SmtpCredentialsPayload>({ ...smtp.payload(name("new"), { subaccount }), ...change })
          const made = yield* refused(credentials.create(bad), "InvalidInput")
          assert.strictEqual(made.field, field, shown(smtpCases, at))
          if (isLeftOut([field, change])) continue
          const changed = yield* refused(credentials.update(name("there"), bad), "InvalidInput")
          assert.strictEqual(changed.field, field, shown(smtpCases, at))
        }
        for (const value of [null, undefined, 7, "x"]) {
          yield* refused(credentials.create(unchecked(value)), "InvalidInput")
          yield* refused(credentials.update(name("there"), unchecked(value)), "InvalidInput")
        }
        assert.deepStrictEqual(yield* credentials.list({ subaccount }), before)
      })
    )

    it.effect("in what credentials are looked for by", () =>
      Effect.gen(function* () {
        const { apiKeys: keys } = yield* CredentialsService
        for (const value of [null, undefined, 7]) {
          assert.strictEqual((yield* refused(keys.get(unchecked(value)), "InvalidInput")).field, "name")
          assert.strictEqual((yield* refused(keys.delete(unchecked(value)), "InvalidInput")).field, "name")
        }
        for (const value of [null, 7, "nobody"]) {
          const of = { subaccount: unchecked<undefined>(value) }
          assert.strictEqual((yield* refused(keys.list(of), "InvalidInput")).field, "subaccount")
          assert.strictEqual((yield* refused(keys.get("any", of), "InvalidInput")).field, "subaccount")
        }
      })
    )
  })
}

export const badMessagesConformance = (it: Cases<EmailsService>): void => {
  it.describe(area, () => {
    it.effect("in a message", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        for (const [at, [field, change]] of messageCases.entries()) {
          const error = yield* refused(emails.send(unchecked<EmailMessage>(change)), "InvalidInput")
          assert.strictEqual(error.field, field, shown(messageCases, at))
        }
        for (const value of [null, undefined, 7]) yield* refused(emails.send(unchecked(value)), "InvalidInput")
      })
    )
  })
}
