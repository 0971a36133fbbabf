/** On every layer, a field that is `undefined` counts as absent. */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import {
  type ContactPayload,
  type ImportRow,
  ContactsService,
  type ContactUpdatePayload,
  CredentialName,
  CredentialsService,
  type EmailMessage,
  EmailsService
} from "@roster/domain"
import { addAll, addRows } from "@roster/workflows"
import { Effect, Result, Stream } from "effect"
import { apiKeys, arrange, millis, ranges, smtp, soon } from "./credentials/CredentialKind.ts"
import { place } from "./cases/Place.ts"

const nothing = {
  status: undefined,
  firstName: undefined,
  lastName: undefined,
  customFields: undefined,
  consent: undefined
} satisfies Omit<ContactPayload, "email">

const noConsent = { ip: undefined, date: undefined, tracking: undefined } satisfies ContactPayload["consent"]

const noChange = {
  firstName: undefined,
  lastName: undefined,
  customFields: undefined
} satisfies ContactUpdatePayload

/** A row built from a caller's own record type. */
const rowOf = (contact: ContactPayload, index: number): ImportRow => ({
  line: index + 2,
  header: { cells: ["Email"], delimiter: "," },
  cells: [contact.email],
  contact: Result.succeed(contact)
})

const message = (everything: undefined): EmailMessage => ({
  recipients: [{ email: "someone@elsewhere.test", fields: everything }],
  content: {
    from: "john@example.com",
    body: [{ contentType: "PlainText", content: everything, charset: everything }],
    merge: everything,
    attachments: [{ binaryContent: "SGk=", name: "hi.txt", contentType: everything, size: everything }],
    headers: everything,
    postback: everything,
    envelopeFrom: everything,
    replyTo: everything,
    subject: everything,
    templateName: everything,
    attachFiles: everything,
    utm: { source: everything, medium: everything, campaign: everything, content: everything }
  },
  options: {
    timeOffset: everything,
    poolName: everything,
    channelName: everything,
    encoding: everything,
    trackOpens: everything,
    trackClicks: everything
  }
})

const area = "what is undefined is absent"

export const contactsAbsentConformance = (it: Cases<ContactsService>): void => {
  it.describe(area, () => {
    it.effect("of a contact to add: as if it were not there, for one that is new and for one that is known", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const known = {
          email: email("known"),
          status: "Stale",
          firstName: "A",
          lastName: "B",
          customFields: { x: "1" },
          consent: { ip: "192.0.2.1", tracking: "Allow" }
        } as const
        const [before] = yield* contacts.add([known])
        const [bare] = yield* contacts.add([{ email: email("bare") }])
        const added = yield* contacts.add([
          { email: email("known"), ...nothing },
          { email: email("new"), ...nothing },
          { email: email("other"), consent: noConsent }
        ])
        const said = ({ consent, customFields, firstName, lastName, status }: typeof before & object) => ({
          consent,
          customFields,
          firstName,
          lastName,
          status
        })
        assert.deepStrictEqual(added[0] && said(added[0]), before && said(before))
        assert.deepStrictEqual(added[1] && said(added[1]), bare && said(bare))
        assert.deepStrictEqual(added[2] && said(added[2]), bare && said(bare))
      })
    )

    it.effect("of contacts in a batch, in a stream and in rows", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const some = (name: string): ReadonlyArray<ContactPayload> =>
          Array.from({ length: 3 }, (_, i) => ({ ...nothing, email: email(`${name}${i}`), lastName: "L" }))
        yield* contacts.addWithoutAnswer(some("batch"))
        const outcomes = yield* Stream.runCollect(addAll(Stream.fromIterable(some("stream"))))
        assert.deepStrictEqual(
          outcomes.map(({ _tag }) => _tag),
          ["Accepted", "Accepted", "Accepted"]
        )
        const report = yield* addRows(Stream.fromIterable(some("row").map(rowOf)))
        assert.deepStrictEqual([report.done, report.rejected], [3, 0])
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => [contact.email, contact.firstName, contact.lastName]),
          ["batch", "stream", "row"].flatMap((name) => some(name).map((contact) => [contact.email, undefined, "L"]))
        )
      })
    )

    it.effect("of a change", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("change")
        yield* contacts.add([{ email, firstName: "A", lastName: "B", customFields: { x: "1" } }])
        const changed = yield* contacts.update(email, { ...noChange, lastName: "C" })
        assert.deepStrictEqual([changed.firstName, changed.lastName, changed.customFields], ["A", "C", { x: "1" }])
      })
    )
  })
}

export const credentialsAbsentConformance = (it: Cases<CredentialsService>): void => {
  it.describe(area, () => {
    it.effect("of a key: no expiry, any address, the own account", () =>
      Effect.gen(function* () {
        const { apiKeys: keys } = yield* CredentialsService
        const name = CredentialName.make(`absent ${place().domain}`)
        const none = { expires: undefined, ipRanges: undefined, subaccount: undefined }
        const made = yield* keys.create({ name, accessLevels: ["ViewContacts"], ...none })
        assert.deepStrictEqual([millis(made.expires), made.ipRanges ?? []], [null, []])
        assert.strictEqual((yield* keys.get(name)).name, name)
        yield* keys.delete(name)
      })
    )

    it.effect("of a change of credentials of either kind: they stay as they are", () =>
      Effect.gen(function* () {
        const stays = { expires: undefined, ipRanges: undefined }
        const ofKeys = yield* arrange(apiKeys)
        const { subaccount } = ofKeys
        const key = ofKeys.name("key")
        yield* ofKeys.credentials.create(apiKeys.payload(key, { expires: soon, ipRanges: ranges, subaccount }))
        yield* ofKeys.credentials.update(key, apiKeys.payload(key, { ...stays, subaccount }))
        const changed = yield* ofKeys.credentials.get(key, { subaccount })
        assert.deepStrictEqual<unknown>([millis(changed.expires), changed.ipRanges], [millis(soon), ranges])
        const ofSmtp = yield* arrange(smtp)
        const login = ofSmtp.name("login")
        yield* ofSmtp.credentials.create(smtp.payload(login, { expires: soon, ipRanges: ranges, subaccount }))
        yield* ofSmtp.credentials.update(login, smtp.payload(login, { ...stays, subaccount }))
        const same = yield* ofSmtp.credentials.get(login, { subaccount })
        assert.deepStrictEqual<unknown>([millis(same.expires), same.ipRanges], [millis(soon), ranges])
      })
    )
  })
}

export const emailsAbsentConformance = (it: Cases<EmailsService>): void => {
  it.describe(area, () => {
    it.effect("of a message and all that is in it", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        assert.isAbove((yield* emails.send(message(undefined))).transactionId?.length ?? 0, 0)
        const { content, recipients } = message(undefined)
        const without = { recipients, content: { ...content, utm: undefined }, options: undefined }
        assert.isAbove((yield* emails.send(without)).transactionId?.length ?? 0, 0)
      })
    )
  })
}
