/** Messages to send. (docs/decisions/records.md) */
import { Schema } from "effect"
import { CustomFields } from "../contacts/ContactRecord.ts"
import { explained } from "../errors/Constructors.ts"
import { hasControl } from "../values/Characters.ts"
import { answerField, nullableRequestField, requestField } from "../values/OptionalField.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { TaggedError } from "../errors/TaggedError.ts"

const noControl = "it has no control characters, which would end a header"

/** The maximum length of a text that becomes part of a header, in UTF-16 units. */
const maximumHeaderText = 16_384

const longHeader = `it has at most ${maximumHeaderText} characters`

const headerIssue = (text: string): string | undefined =>
  text.length > maximumHeaderText ? longHeader : hasControl(text) ? noControl : undefined

/** A text that becomes part of a header. A line break in it could begin another header. */
const headerText = Schema.String.check(Schema.makeFilter(headerIssue))

const quotedTexts = /"(?:[^"\\]|\\.)*"/g

/** Without its quoted texts, a mailbox has no comma or semicolon, and at most one address in angle brackets, at its end. */
const oneMailbox = /^[^<>",;]*(?:<[^<>",;]*>\s*)?$/

/** One mailbox: an address or `Name <address>`. Of several, only one could be checked. (RFC 5322, 3.4) */
const mailbox = headerText.check(
  Schema.makeFilter(
    (text) =>
      text.length > maximumHeaderText ||
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
      if (name.length > maximumHeaderText) return `the name of a header has at most ${maximumHeaderText} characters`
      if (!/^[!-9;-~]+$/.test(name)) return "the name of a header is printable ASCII without a space or colon"
      const issue = headerIssue(value)
      if (issue !== undefined) return { path: [name], issue }
      if (addressHeaders.test(name.toLowerCase())) {
        return { path: [name], issue: "senders and recipients are fields of the message, not headers of your own" }
      }
    }
    return true
  })
)

/** A recipient of a message, with the values of its merge fields. */
export const EmailRecipient = payloadRecord("a recipient", {
  /** The recipient: an address or `Name <address>`. */
  email: headerText,
  /** The values of the merge fields for this recipient, by name. */
  fields: requestField(CustomFields)
})
export interface EmailRecipient extends Schema.Schema.Type<typeof EmailRecipient> {}

/** One form of the text of a message. */
export class BodyPart extends Schema.Opaque<BodyPart>()(
  payloadRecord("a part of the body", {
    /** The form of the text. */
    contentType: Schema.Literals(["HTML", "PlainText", "AMP", "CSS"]),
    /** The text, with merge fields in braces, such as `{firstname}`. */
    content: optionalText,
    /** The character set of the text, such as utf-8. */
    charset: optionalHeaderText
  })
) {}

/** A file attached to a message, in base64. */
export class Attachment extends Schema.Opaque<Attachment>()(
  payloadRecord("an attachment", {
    /** The bytes of the file, in base64. */
    binaryContent: Schema.String,
    /** The name of the file as recipients see it. */
    name: headerText,
    /** The media type, such as application/pdf. */
    contentType: optionalHeaderText,
    /** The size of the file, in bytes. */
    size: nullableRequestField(Schema.Int)
  })
) {}

/** The sender, texts, headers and attachments of a message. */
export class EmailContent extends Schema.Opaque<EmailContent>()(
  payloadRecord("the content of a message", {
    /** The sender: an address or `Name <address>`, which the account may send from. */
    from: mailbox,
    /** The texts of the message, one for each form. */
    body: requestField(Schema.Array(BodyPart)),
    /** The values of merge fields for all recipients, by name. */
    merge: requestField(CustomFields),
    /** The files that are sent along. */
    attachments: requestField(Schema.Array(Attachment)),
    /** Further headers by name. Senders and recipients have fields of their own. */
    headers: requestField(MailHeaders),
    /** A text that the service hands back in its notifications. */
    postback: optionalHeaderText,
    /** The address that bounces go to, or `Name <address>`, which the account may send from. */
    envelopeFrom: optionalMailbox,
    /** Where answers go: an address or `Name <address>`. */
    replyTo: optionalMailbox,
    /** The subject, with merge fields in braces. */
    subject: optionalHeaderText,
    /** The name of a template of the service, used in place of `body`. */
    templateName: optionalHeaderText,
    /** The names of files that were uploaded to the service before, to be sent along. */
    attachFiles: requestField(Schema.Array(headerText)),
    /** What is added to links, so that web analytics can count their visits. */
    utm: requestField(
      payloadRecord("the utm of a message", {
        source: optionalHeaderText,
        medium: optionalHeaderText,
        campaign: optionalHeaderText,
        content: optionalHeaderText
      })
    )
  })
) {}

/** How a message is delivered and tracked. */
export class EmailOptions extends Schema.Opaque<EmailOptions>()(
  payloadRecord("the options object of a message", {
    /** How long the service waits before it sends, in minutes. */
    timeOffset: nullableRequestField(Schema.Int),
    /** The name of the pool of IP addresses to send from. */
    poolName: optionalHeaderText,
    /** The name of the channel by which reports group messages. */
    channelName: optionalHeaderText,
    /** The encoding of the headers, such as Base64 or QuotedPrintable. */
    encoding: optionalHeaderText,
    /** Whether opens are counted. */
    trackOpens: nullableRequestField(Schema.Boolean),
    /** Whether clicks on links are counted. */
    trackClicks: nullableRequestField(Schema.Boolean)
  })
) {}

/** The maximum number of recipients of one message. */
export const maximumRecipients = 1000

/**
 * A message to one or more recipients. `from` and `envelopeFrom` are bare addresses or `Name <address>`, both allowed
 * ones.
 */
export class EmailMessage extends Schema.Opaque<EmailMessage>()(
  explained(
    payloadRecord("a message", {
      /** The recipients, 1 to 1000. */
      recipients: Schema.Array(EmailRecipient).check(Schema.isMinLength(1), Schema.isMaxLength(maximumRecipients)),
      /** The sender, texts and attachments. */
      content: EmailContent,
      /** How the message is delivered and tracked. */
      options: requestField(EmailOptions)
    }).annotate({ identifier: "EmailMessageData" })
  )
) {}

/** The identifiers of an accepted message. */
export class EmailSend extends Schema.Opaque<EmailSend>()(
  wireRecord(
    {
      /** The identifier of the whole call. */
      transactionId: answerField(Schema.String),
      /** The identifier of the message, if it has one of its own. */
      messageId: Schema.optionalKey(Schema.NullOr(Schema.String))
    },
    { transactionId: "TransactionID", messageId: "MessageID" }
  ).annotate({ identifier: "EmailSend" })
) {}

/** The account has not verified the sender address. */
export class NotAllowedSender extends TaggedError<NotAllowedSender>()("NotAllowedSender", {
  /** The sender address that was refused. */
  email: Schema.String
}) {
  override get message(): string {
    return `The from e-mail address <${this.email}> is not allowed. Send from an address that the account has verified.`
  }
}
