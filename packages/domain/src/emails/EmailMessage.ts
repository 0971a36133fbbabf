/** Messages to send. (Service interface, Mail sending and Errors, 1; docs/decisions/records.md) */
import { Schema } from "effect"
import { CustomFields } from "../contacts/ContactRecord.ts"
import { nullableRequestField, requestField } from "../values/RequestField.ts"
import { wireRecord } from "../values/WireRecord.ts"

const optionalText = nullableRequestField(Schema.String)

/** A recipient of a message, with the values of its merge fields. */
export const EmailRecipient = wireRecord({
  email: Schema.String,
  fields: requestField(CustomFields)
})
export interface EmailRecipient extends Schema.Schema.Type<typeof EmailRecipient> {}

/** One form of the text of a message. */
export const BodyPart = wireRecord({
  contentType: Schema.Literals(["HTML", "PlainText", "AMP", "CSS"]),
  content: optionalText,
  charset: optionalText
})
export interface BodyPart extends Schema.Schema.Type<typeof BodyPart> {}

/** A file attached to a message, in base64. */
export const Attachment = wireRecord({
  binaryContent: Schema.String,
  name: Schema.String,
  contentType: optionalText,
  size: nullableRequestField(Schema.Int)
})
export interface Attachment extends Schema.Schema.Type<typeof Attachment> {}

/** The sender, texts, headers and attachments of a message. */
export const EmailContent = wireRecord({
  from: Schema.String,
  body: requestField(Schema.Array(BodyPart)),
  merge: requestField(CustomFields),
  attachments: requestField(Schema.Array(Attachment)),
  headers: requestField(CustomFields),
  postback: optionalText,
  envelopeFrom: optionalText,
  replyTo: optionalText,
  subject: optionalText,
  templateName: optionalText,
  attachFiles: requestField(Schema.Array(Schema.String)),
  utm: requestField(
    wireRecord({ source: optionalText, medium: optionalText, campaign: optionalText, content: optionalText })
  )
})
export interface EmailContent extends Schema.Schema.Type<typeof EmailContent> {}

/** How a message is delivered and tracked. */
export const EmailOptions = wireRecord({
  timeOffset: nullableRequestField(Schema.Int),
  poolName: optionalText,
  channelName: optionalText,
  encoding: optionalText,
  trackOpens: nullableRequestField(Schema.Boolean),
  trackClicks: nullableRequestField(Schema.Boolean)
})
export interface EmailOptions extends Schema.Schema.Type<typeof EmailOptions> {}

/** The maximum number of recipients of one message. */
export const maximumRecipients = 1000

/** A message to one or more recipients. `content.from` is a bare address or `Name <address>`. */
export const EmailMessage = wireRecord({
  recipients: Schema.Array(EmailRecipient).check(Schema.isMinLength(1), Schema.isMaxLength(maximumRecipients)),
  content: EmailContent,
  options: requestField(EmailOptions)
}).annotate({ identifier: "EmailMessageData" })
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
