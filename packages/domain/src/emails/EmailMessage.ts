/** Messages to send. (docs/decisions/records.md) */
import { Schema } from "effect"
import { CustomFields } from "../contacts/ContactRecord.ts"
import { explained } from "../errors/Constructors.ts"
import { hasControl } from "../values/Characters.ts"
import { nullableRequestField, requestField } from "../values/RequestField.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"

const noControl = "it has no control characters, which would end a header"

/** A text that becomes part of a header. A line break in it could begin another header. */
const headerText = Schema.String.check(Schema.makeFilter((text) => !hasControl(text) || noControl))

const quotedTexts = /"(?:[^"\\]|\\.)*"/g

/** Without its quoted texts, a mailbox has no comma or semicolon, and at most one address in angle brackets, at its end. */
const oneMailbox = /^[^<>",;]*(?:<[^<>",;]*>\s*)?$/

/** One mailbox: an address or `Name <address>`. Of several, only one could be checked. (RFC 5322, 3.4) */
const mailbox = headerText.check(
  Schema.makeFilter(
    (text) =>
      oneMailbox.test(text.replaceAll(quotedTexts, "")) ||
      'it is one address or Name <address>; a name with a comma or semicolon is quoted, as in "Doe, John" <john@example.com>'
  )
)

const optionalText = nullableRequestField(Schema.String)
const optionalHeaderText = nullableRequestField(headerText)
const optionalMailbox = nullableRequestField(mailbox)

/** The headers of senders and recipients, in lower case: as custom headers they would bypass the check of the sender. */
const addressHeaders = /^(?:resent-)?(?:from|sender|to|cc|bcc)$|^return-path$/

/** Headers by name, which is printable ASCII without a colon (RFC 5322, 3.6.8). */
const MailHeaders = CustomFields.check(
  Schema.makeFilter((headers) => {
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[!-9;-~]+$/.test(name)) return "the name of a header is printable ASCII without a space or colon"
      if (hasControl(value)) return { path: [name], issue: noControl }
      if (addressHeaders.test(name.toLowerCase())) {
        return { path: [name], issue: "senders and recipients are fields of the message, not headers of your own" }
      }
    }
    return true
  })
)

/** A recipient of a message, with the values of its merge fields. */
export const EmailRecipient = payloadRecord("a recipient", {
  email: headerText,
  fields: requestField(CustomFields)
})
export interface EmailRecipient extends Schema.Schema.Type<typeof EmailRecipient> {}

/** One form of the text of a message. */
export const BodyPart = payloadRecord("a part of the body", {
  contentType: Schema.Literals(["HTML", "PlainText", "AMP", "CSS"]),
  content: optionalText,
  charset: optionalHeaderText
})
export interface BodyPart extends Schema.Schema.Type<typeof BodyPart> {}

/** A file attached to a message, in base64. */
export const Attachment = payloadRecord("an attachment", {
  binaryContent: Schema.String,
  name: headerText,
  contentType: optionalHeaderText,
  size: nullableRequestField(Schema.Int)
})
export interface Attachment extends Schema.Schema.Type<typeof Attachment> {}

/** The sender, texts, headers and attachments of a message. */
export const EmailContent = payloadRecord("the content of a message", {
  from: mailbox,
  body: requestField(Schema.Array(BodyPart)),
  merge: requestField(CustomFields),
  attachments: requestField(Schema.Array(Attachment)),
  headers: requestField(MailHeaders),
  postback: optionalHeaderText,
  envelopeFrom: optionalMailbox,
  replyTo: optionalMailbox,
  subject: optionalHeaderText,
  templateName: optionalHeaderText,
  attachFiles: requestField(Schema.Array(headerText)),
  utm: requestField(
    payloadRecord("the utm of a message", {
      source: optionalHeaderText,
      medium: optionalHeaderText,
      campaign: optionalHeaderText,
      content: optionalHeaderText
    })
  )
})
export interface EmailContent extends Schema.Schema.Type<typeof EmailContent> {}

/** How a message is delivered and tracked. */
export const EmailOptions = payloadRecord("the options object of a message", {
  timeOffset: nullableRequestField(Schema.Int),
  poolName: optionalHeaderText,
  channelName: optionalHeaderText,
  encoding: optionalHeaderText,
  trackOpens: nullableRequestField(Schema.Boolean),
  trackClicks: nullableRequestField(Schema.Boolean)
})
export interface EmailOptions extends Schema.Schema.Type<typeof EmailOptions> {}

/** The maximum number of recipients of one message. */
export const maximumRecipients = 1000

/**
 * A message to one or more recipients. `from` and `envelopeFrom` are bare addresses or `Name <address>`, both allowed
 * ones.
 */
export const EmailMessage = explained(
  payloadRecord("a message", {
    recipients: Schema.Array(EmailRecipient).check(Schema.isMinLength(1), Schema.isMaxLength(maximumRecipients)),
    content: EmailContent,
    options: requestField(EmailOptions)
  }).annotate({ identifier: "EmailMessageData" })
)
export interface EmailMessage extends Schema.Schema.Type<typeof EmailMessage> {}

/** The identifiers of an accepted message. */
export const EmailSend = wireRecord(
  { transactionId: Schema.optionalKey(Schema.String), messageId: Schema.optionalKey(Schema.NullOr(Schema.String)) },
  { transactionId: "TransactionID", messageId: "MessageID" }
).annotate({ identifier: "EmailSend" })
export interface EmailSend extends Schema.Schema.Type<typeof EmailSend> {}

/** The account has not verified the sender address. */
export class NotAllowedSender extends Schema.TaggedError<NotAllowedSender>()("NotAllowedSender", {
  email: Schema.String
}) {
  override get message(): string {
    return `The from e-mail address <${this.email}> is not allowed. Send from an address that the account has verified.`
  }
}
