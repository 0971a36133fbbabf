import { EmailMessage, EmailSend } from "@roster/domain"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { RequiredAccess } from "./ApiKeyAuth.ts"
import { BadRequest } from "./WireError.ts"

/** The operation that sends mail. (Service interface, Mail sending and Errors, 1.) */
export class EmailsApi extends HttpApiGroup.make("emails", { topLevel: true })
  .add(
    HttpApiEndpoint.post("emailsPost", "/emails", {
      payload: EmailMessage,
      success: EmailSend,
      error: BadRequest
    })
      .annotate(RequiredAccess, "SendHttp")
      .annotate(OpenApi.Summary, "Send a message")
  )
  .annotateMerge(OpenApi.annotations({ title: "Mail sending" })) {}
