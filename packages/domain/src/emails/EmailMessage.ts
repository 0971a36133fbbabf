/**
 * Messages to send, and the answer of the service.
 * (Service interface, Mail sending and Errors, 1; docs/decisions/records.md)
 */
import { Schema } from "effect"
import { CustomFields } from "../contacts/ContactRecord.ts"
import { nullableRequestField, requestField } from "../values/RequestField.ts"

const optionalText = nullableRequestField(Schema.String)

/** A recipient of a message, with the values of its merge fields. */
export const EmailRecipient = Schema.Struct({
  email: Schema.String,
  fields: requestField(CustomFields)
}).pipe(Schema.encodeKeys({ email: "Email", fields: "Fields" }))
export interface EmailRecipient extends Schema.Schema.Type<typeof EmailRecipient> {}

/** One form of the text of a message. */
export const BodyPart = Schema.Struct({
  contentType: Schema.Literals(["HTML", "PlainText", "AMP", "CSS"]),
  content: optionalText,
  charset: optionalText
}).pipe(Schema.encodeKeys({ contentType: "ContentType", content: "Content", charset: "Charset" }))
export interface BodyPart extends Schema.Schema.Type<typeof BodyPart> {}

/** A file attached to a message, in base64. */
export const Attachment = Schema.Struct({
  binaryContent: Schema.String,
  name: Schema.String,
  contentType: optionalText,
  size: nullableRequestField(Schema.Int)
}).pipe(Schema.encodeKeys({ binaryContent: "BinaryContent", name: "Name", contentType: "ContentType", size: "Size" }))
export interface Attachment extends Schema.Schema.Type<typeof Attachment> {}

/** The sender, texts, headers and attachments of a message. */
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
export interface EmailContent extends Schema.Schema.Type<typeof EmailContent> {}

/** How a message is delivered and tracked. */
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
export interface EmailOptions extends Schema.Schema.Type<typeof EmailOptions> {}

/** The maximum number of recipients of one message. */
export const maximumRecipients = 1000

/** A message to one or more recipients. `content.from` is a bare address or `Name <address>`. */
export const EmailMessage = Schema.Struct({
  recipients: Schema.Array(EmailRecipient).check(Schema.isMinLength(1), Schema.isMaxLength(maximumRecipients)),
  content: EmailContent,
  options: requestField(EmailOptions)
}).pipe(
  Schema.encodeKeys({ recipients: "Recipients", content: "Content", options: "Options" }),
  Schema.annotate({ identifier: "EmailMessageData" })
)
export interface EmailMessage extends Schema.Schema.Type<typeof EmailMessage> {}

/** The identifiers of an accepted message. */
export const EmailSend = Schema.Struct({
  transactionId: Schema.optionalKey(Schema.String),
  messageId: Schema.optionalKey(Schema.NullOr(Schema.String))
}).pipe(
  Schema.encodeKeys({ transactionId: "TransactionID", messageId: "MessageID" }),
  Schema.annotate({ identifier: "EmailSend" })
)
export interface EmailSend extends Schema.Schema.Type<typeof EmailSend> {}

/** The account has not verified the sender address. */
export class NotAllowedSender extends Schema.TaggedError<NotAllowedSender>()("NotAllowedSender", {
  email: Schema.String
}) {
  override get message(): string {
    return `The from e-mail address <${this.email}> is not allowed. Send from an address that the account has verified.`
  }
}
