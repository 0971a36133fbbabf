/** Messages to send. (Service interface, Mail sending and Errors, 1; docs/decisions/records.md) */
import { Schema } from "effect"
import { CustomFields } from "../contacts/ContactRecord.ts"
import { nullableRequestField, requestField } from "../values/RequestField.ts"
import { wireRecord } from "../values/WireRecord.ts"

const control = /\p{Cc}/u
const noControl = "it has no control characters, which would end a line of the message's head"

/** A text that becomes part of a header. Behind a line break in it, anything could follow. */
const headText = Schema.String.check(Schema.makeFilter((text) => !control.test(text) || noControl))

const optionalText = nullableRequestField(Schema.String)
const optionalHeadText = nullableRequestField(headText)

/** Headers by name, which is printable ASCII without a colon (RFC 5322, 3.6.8). */
const MailHeaders = CustomFields.check(
  Schema.makeFilter((headers) => {
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[!-9;-~]+$/.test(name)) return "the name of a header is printable ASCII without a space or colon"
      if (control.test(value)) return { path: [name], issue: noControl }
    }
    return true
  })
)

/** A recipient of a message, with the values of its merge fields. */
export const EmailRecipient = wireRecord({
  email: headText,
  fields: requestField(CustomFields)
})
export interface EmailRecipient extends Schema.Schema.Type<typeof EmailRecipient> {}

/** One form of the text of a message. */
export const BodyPart = wireRecord({
  contentType: Schema.Literals(["HTML", "PlainText", "AMP", "CSS"]),
  content: optionalText,
  charset: optionalHeadText
})
export interface BodyPart extends Schema.Schema.Type<typeof BodyPart> {}

/** A file attached to a message, in base64. */
export const Attachment = wireRecord({
  binaryContent: Schema.String,
  name: headText,
  contentType: optionalHeadText,
  size: nullableRequestField(Schema.Int)
})
export interface Attachment extends Schema.Schema.Type<typeof Attachment> {}

/** The sender, texts, headers and attachments of a message. */
export const EmailContent = wireRecord({
  from: headText,
  body: requestField(Schema.Array(BodyPart)),
  merge: requestField(CustomFields),
  attachments: requestField(Schema.Array(Attachment)),
  headers: requestField(MailHeaders),
  postback: optionalHeadText,
  envelopeFrom: optionalHeadText,
  replyTo: optionalHeadText,
  subject: optionalHeadText,
  templateName: optionalHeadText,
  attachFiles: requestField(Schema.Array(headText)),
  utm: requestField(
    wireRecord({
      source: optionalHeadText,
      medium: optionalHeadText,
      campaign: optionalHeadText,
      content: optionalHeadText
    })
  )
})
export interface EmailContent extends Schema.Schema.Type<typeof EmailContent> {}

/** How a message is delivered and tracked. */
export const EmailOptions = wireRecord({
  timeOffset: nullableRequestField(Schema.Int),
  poolName: optionalHeadText,
  channelName: optionalHeadText,
  encoding: optionalHeadText,
  trackOpens: nullableRequestField(Schema.Boolean),
  trackClicks: nullableRequestField(Schema.Boolean)
})
export interface EmailOptions extends Schema.Schema.Type<typeof EmailOptions> {}

/** The maximum number of recipients of one message. */
export const maximumRecipients = 1000

/** A message to one or more recipients. `from` and `envelopeFrom` are bare addresses or `Name <address>`, both allowed ones. */
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
