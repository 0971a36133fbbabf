/** Messages that the service has accepted, and keeps. */
import { Schema } from "effect"
import { TaggedError } from "../errors/TaggedError.ts"
import { WireDate } from "../values/WireDate.ts"
import { wireRecord } from "../values/WireRecord.ts"
import { EmailMessage } from "./EmailMessage.ts"

const names = { messageId: "MessageID", transactionId: "TransactionID" } as const

/** A message that the service has accepted. */
export class AcceptedEmail extends Schema.Opaque<AcceptedEmail>()(
  wireRecord(
    {
      /** The identifier of the message. */
      messageId: Schema.String,
      /** The identifier of the call that submitted it. */
      transactionId: Schema.String,
      /** When the service accepted it, in UTC. */
      accepted: WireDate,
      /** The message as it was submitted. */
      message: EmailMessage
    },
    names
  ).annotate({ identifier: "AcceptedEmail" })
) {}

/** What a list tells of a message: no texts and attachments. */
export class EmailSummary extends Schema.Opaque<EmailSummary>()(
  wireRecord(
    {
      /** The identifier of the message. */
      messageId: Schema.String,
      /** When the service accepted it, in UTC. */
      accepted: WireDate,
      /** The sender. */
      from: Schema.String,
      /** The recipients. */
      to: Schema.Array(Schema.String),
      /** The subject; `null` if it has none. */
      subject: Schema.NullOr(Schema.String)
    },
    { messageId: names.messageId }
  ).annotate({ identifier: "EmailSummary" })
) {}

/** A page of messages, the newest first. */
export interface EmailsPage {
  /** The id of a message: only those that were accepted before it are given. */
  readonly before?: string | undefined
  /** The maximum number of messages, up to 1000 (default: 20). A page of large ones has fewer. */
  readonly limit?: number | undefined
}

/** The service keeps no message of this id. */
export class EmailNotFound extends TaggedError<EmailNotFound>()("EmailNotFound", {
  /** The id that was asked for. */
  id: Schema.String
}) {
  override get message(): string {
    return `There is no e-mail ${this.id}.`
  }
}
