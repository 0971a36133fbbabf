/**
 * Sending mail, on every layer: allowed senders, accepted messages and their ids. The layers of this suite allow only
 * senders of `example.com`.
 */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import { EmailMessage, EmailsService } from "@roster/domain"
import { Effect } from "effect"
import { refused } from "./cases/Refused.ts"

const message = (from: string, to: ReadonlyArray<string> = ["someone@elsewhere.test"]) =>
  // A caller in plain JavaScript can pass an unchecked message.
  EmailMessage.make(
    {
      recipients: to.map((email) => ({ email })),
      content: { from, subject: "Hello", body: [{ contentType: "PlainText", content: "Hi" }] }
    },
    { disableChecks: true }
  )

export const emailsConformance = (it: Cases<EmailsService>): void => {
  it.describe("emails: send", () => {
    it.effect.each([
      "john@example.com",
      "John Doe <john@example.com>",
      '"Doe, John" <john@example.com>',
      "JOHN@EXAMPLE.COM",
      "Żółć 😀 <o'neil+tag@example.com>"
    ])("takes a message from %s and says what it is called", (from) =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const [first, second] = [yield* emails.send(message(from)), yield* emails.send(message(from))]
        assert.isAbove(first.transactionId?.length ?? 0, 0)
        assert.notStrictEqual(first.transactionId, second.transactionId)
      })
    )

    it.effect("takes everything that a message may have, for 1000 recipients", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const sent = yield* emails.send(
          EmailMessage.make({
            recipients: Array.from({ length: 1000 }, (_, i) => ({
              email: `r${i}@elsewhere.test`,
              fields: { name: `R ${i}`, __proto: "x" }
            })),
            content: {
              from: "John <john@example.com>",
              replyTo: "Jane <jane@example.com>",
              subject: "Żółć 😀",
              body: [
                { contentType: "HTML", content: "<b>{name}</b>", charset: "utf-8" },
                { contentType: "PlainText", content: "{name}" }
              ],
              merge: { constructor: "c" },
              attachments: [{ binaryContent: "SGk=", name: "hi.txt", contentType: "text/plain", size: 2 }],
              headers: { "X-Campaign": "spring" },
              postback: "p",
              envelopeFrom: "bounces@example.com",
              utm: { source: "s", medium: "m", campaign: "c", content: "x" }
            },
            options: { trackOpens: true, trackClicks: false, timeOffset: null, channelName: "c" }
          })
        )
        assert.isAbove(sent.transactionId?.length ?? 0, 0)
      })
    )

    it.effect.each([
      ["eve@evil.test", "eve@evil.test"],
      ["Eve <eve@evil.test>", "eve@evil.test"],
      ['"john@example.com" <eve@evil.test>', "eve@evil.test"],
      ["john@example.com <eve@evil.test>", "eve@evil.test"],
      ["eve@sub.example.com", "eve@sub.example.com"],
      ["eve@notexample.com", "eve@notexample.com"],
      ["eve@example.com.evil.test", "eve@example.com.evil.test"]
    ] as const)("fails with NotAllowedSender from %s, and names the address", ([from, email]) =>
      Effect.gen(function* () {
        const error = yield* refused((yield* EmailsService).send(message(from)), "NotAllowedSender")
        assert.strictEqual(error.email, email)
      })
    )

    it.effect.each([
      ["nobody", message("", ["someone@elsewhere.test"])],
      ["no address", message("John Doe", ["someone@elsewhere.test"])],
      ["an address that cannot be", message("john doe@example.com", ["someone@elsewhere.test"])],
      [
        "an address with a header behind it",
        message("john@example.com\r\nBcc: eve@evil.test", ["someone@elsewhere.test"])
      ]
    ] as const)("refuses a message from %s", ([, mail]) =>
      Effect.gen(function* () {
        yield* refused((yield* EmailsService).send(mail), "InvalidInput")
      })
    )

    it.effect.each([
      "eve@evil.test, john@example.com",
      "Eve <eve@evil.test>, John <john@example.com>",
      "Eve <eve@evil.test> <john@example.com>",
      "Eve <eve@evil.test>; John <john@example.com>",
      "all: eve@evil.test, john@example.com;",
      "Doe, John <john@example.com>",
      '"Eve <eve@evil.test>, <john@example.com>'
    ])("refuses %s, which is not one mailbox", (several) =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const mail = message("john@example.com")
        for (const [field, content] of [
          ["from", { from: several }],
          ["envelopeFrom", { envelopeFrom: several }],
          ["replyTo", { replyTo: several }]
        ] as const) {
          const sent = emails.send(
            EmailMessage.make({ ...mail, content: { ...mail.content, ...content } }, { disableChecks: true })
          )
          assert.strictEqual((yield* refused(sent, "InvalidInput")).field, `content.${field}`)
        }
      })
    )

    it.effect.each(["From", "sender", "To", "CC", "Bcc", "Return-Path", "Resent-From", "resent-bcc"])(
      "refuses the header %s, which would be another sender or recipient",
      (name) =>
        Effect.gen(function* () {
          const emails = yield* EmailsService
          const mail = message("john@example.com")
          const withHeaders = (headers: Readonly<Record<string, string>>) =>
            emails.send(EmailMessage.make({ ...mail, content: { ...mail.content, headers } }, { disableChecks: true }))
          const error = yield* refused(withHeaders({ "X-Mine": "x", [name]: "eve@evil.test" }), "InvalidInput")
          assert.strictEqual(error.field, `content.headers.${name}`)
          yield* withHeaders({ [`X-${name}`]: "eve@evil.test" })
        })
    )

    it.effect("fails with NotAllowedSender where only the envelope is from somebody else", () =>
      Effect.gen(function* () {
        const emails = yield* EmailsService
        const enveloped = (envelopeFrom: string | null) => {
          const mail = message("john@example.com")
          return emails.send(EmailMessage.make({ ...mail, content: { ...mail.content, envelopeFrom } }))
        }
        for (const envelopeFrom of [null, "", "bounces@example.com", "Bounces <bounces@example.com>"]) {
          yield* enveloped(envelopeFrom)
        }
        for (const envelopeFrom of ["eve@evil.test", "john@example.com <eve@evil.test>"]) {
          const error = yield* refused(enveloped(envelopeFrom), "NotAllowedSender")
          assert.strictEqual(error.email, "eve@evil.test")
        }
        const error = yield* refused(enveloped("nobody"), "InvalidInput")
        assert.strictEqual(error.field, "content.envelopeFrom")
      })
    )

    it.effect.each([
      ["nobody", []],
      ["1001 recipients", Array.from({ length: 1001 }, (_, i) => `r${i}@elsewhere.test`)],
      ["an address that cannot be", ["someone@elsewhere.test", "some one@elsewhere.test"]],
      ["a blank address", [""]]
    ] as const)("refuses a message to %s", ([, to]) =>
      Effect.gen(function* () {
        yield* refused((yield* EmailsService).send(message("john@example.com", to)), "InvalidInput")
      })
    )
  })
}
