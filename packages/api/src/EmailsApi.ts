/** The endpoint that sends a message. */
import { EmailMessage, EmailSend } from "@roster/domain"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { needs, never } from "./OperationPolicy.ts"
import { idempotencyKeyHeader } from "./Parameters.ts"
import { BadRequest, bodyErrors, Conflict } from "./WireError.ts"

/** The operation that sends mail. */
export class EmailsApi extends HttpApiGroup.make("emails", { topLevel: true })
  .add(
    HttpApiEndpoint.post("emailsPost", "/emails", {
      payload: EmailMessage,
      success: EmailSend,
      error: [BadRequest, Conflict, ...bodyErrors]
    }).annotateMerge(
      needs("emails:send", "Send a message", {
        retries: never("Sending again could deliver the message twice."),
        headers: [idempotencyKeyHeader]
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Mail sending" })) {}
