/** The tag of the one operation on e-mails, which submits a message. */
import type { Effect } from "effect"
import type { EmailMessage, EmailSend, NotAllowedSender } from "../emails/EmailMessage.ts"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import type { ServiceError } from "../errors/ServiceError.ts"
import { CheckedService, keyedFields } from "./CheckedService.ts"
import type { IdempotencyKeyReused, KeyedCall } from "./KeyedCall.ts"

/** Sends messages. */
export class EmailsService extends CheckedService<
  EmailsService,
  {
    /** Submits a message. `emailsPost`, needs SendHttp. */
    readonly send: (
      message: EmailMessage,
      options?: KeyedCall
    ) => Effect.Effect<EmailSend, NotAllowedSender | IdempotencyKeyReused | InvalidInput | ServiceError>
  }
>()("@roster/domain/EmailsService", { send: ["Own", keyedFields] }) {}
