/**
 * A mail to send, and the answer to it.
 * (Service interface, Mail sending and Errors, 1; docs/decisions/records.md)
 */
import { Schema } from "effect"
import { CustomFields } from "../contacts/Contact.ts"
import { nullableRequestField, requestField } from "../values/RequestField.ts"

const optionalText = nullableRequestField(Schema.String)

export const EmailRecipient = Schema.Struct({
  email: Schema.String,
  fields: requestField(CustomFields)
}).pipe(Schema.encodeKeys({ email: "Email", fields: "Fields" }))
export type EmailRecipient = typeof EmailRecipient.Type

/** One form of the text of a mail. */
export const BodyPart = Schema.Struct({
  contentType: Schema.Literals(["HTML", "PlainText", "AMP", "CSS"]),
  content: optionalText,
  charset: optionalText
}).pipe(Schema.encodeKeys({ contentType: "ContentType", content: "Content", charset: "Charset" }))
export type BodyPart = typeof BodyPart.Type

/** A file that goes with a mail, in base64. */
export const Attachment = Schema.Struct({
  binaryContent: Schema.String,
  name: Schema.String,
  contentType: optionalText,
  size: nullableRequestField(Schema.Int)
}).pipe(Schema.encodeKeys({ binaryContent: "BinaryContent", name: "Name", contentType: "ContentType", size: "Size" }))
export type Attachment = typeof Attachment.Type

export const EmailContent = Schema.Struct({
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
    Schema.Struct({ source: optionalText, medium: optionalText, campaign: optionalText, content: optionalText }).pipe(
      Schema.encodeKeys({ source: "Source", medium: "Medium", campaign: "Campaign", content: "Content" })
    )
  )
}).pipe(
  Schema.encodeKeys({
    from: "From",
    body: "Body",
    merge: "Merge",
    attachments: "Attachments",
    headers: "Headers",
    postback: "Postback",
    envelopeFrom: "EnvelopeFrom",
    replyTo: "ReplyTo",
    subject: "Subject",
    templateName: "TemplateName",
    attachFiles: "AttachFiles",
    utm: "Utm"
  })
)
export type EmailContent = typeof EmailContent.Type

export const EmailOptions = Schema.Struct({
  timeOffset: nullableRequestField(Schema.Int),
  poolName: optionalText,
  channelName: optionalText,
  encoding: optionalText,
  trackOpens: nullableRequestField(Schema.Boolean),
  trackClicks: nullableRequestField(Schema.Boolean)
}).pipe(
  Schema.encodeKeys({
    timeOffset: "TimeOffset",
    poolName: "PoolName",
    channelName: "ChannelName",
    encoding: "Encoding",
    trackOpens: "TrackOpens",
    trackClicks: "TrackClicks"
  })
)
export type EmailOptions = typeof EmailOptions.Type

/** The most recipients of one message. */
export const maximumRecipients = 1000

/**
 * A message to one or more recipients, each with fields of their own to fill in. `content.from` is a bare address or
 * `Name <address>`.
 */
export const EmailMessage = Schema.Struct({
  recipients: Schema.Array(EmailRecipient).check(Schema.isMinLength(1), Schema.isMaxLength(maximumRecipients)),
  content: EmailContent,
  options: requestField(EmailOptions)
}).pipe(
  Schema.encodeKeys({ recipients: "Recipients", content: "Content", options: "Options" }),
  Schema.annotate({ identifier: "EmailMessageData" })
)
export type EmailMessage = typeof EmailMessage.Type

/** What the service calls an accepted message. */
export const EmailSend = Schema.Struct({
  transactionId: Schema.optionalKey(Schema.String),
  messageId: Schema.optionalKey(Schema.NullOr(Schema.String))
}).pipe(
  Schema.encodeKeys({ transactionId: "TransactionID", messageId: "MessageID" }),
  Schema.annotate({ identifier: "EmailSend" })
)
export type EmailSend = typeof EmailSend.Type

export class NotAllowedSender extends Schema.TaggedError<NotAllowedSender>()("NotAllowedSender", {
  email: Schema.String
}) {
  override get message(): string {
    return `The from e-mail address <${this.email}> is not allowed. Send from an address that the account has verified.`
  }
}
