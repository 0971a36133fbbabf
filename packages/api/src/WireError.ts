/** Errors on the wire: a status and `{"Error": "text"}`; the tag is not sent. (docs/decisions/status-codes.md) */
import { Schema } from "effect"
import { HttpApiMiddleware } from "effect/http-api"

const fields = <const Tag extends string>(tag: Tag) => ({
  /** The name of the error, which is not sent. */
  _tag: Schema.tagDefaultOmit(tag),
  /** What happened and what to do, in sentences. */
  Error: Schema.String
})

/** The request is malformed or invalid. */
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(fields("BadRequest"), { httpApiStatus: 400 }) {}

/** The key is missing, unknown or expired. `Unauthorized` is the reason that a caller sees. */
export class UnauthorizedRequest extends Schema.Error<UnauthorizedRequest>("UnauthorizedRequest")(
  fields("UnauthorizedRequest"),
  { httpApiStatus: 401 }
) {}

/** The key lacks the access level, is used from an address outside its ranges, or would grant more than it has. */
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(fields("Forbidden"), { httpApiStatus: 403 }) {}

/** The contact, credential or export does not exist. */
export class NotFound extends Schema.Error<NotFound>("NotFound")(fields("NotFound"), { httpApiStatus: 404 }) {}

/** The request did not arrive in time. */
export class RequestTimeout extends Schema.Error<RequestTimeout>("RequestTimeout")(fields("RequestTimeout"), {
  httpApiStatus: 408
}) {}

/**
 * The name is taken, the account is full, the key is the last one that can manage keys, or an Idempotency-Key was used
 * for another request.
 */
export class Conflict extends Schema.Error<Conflict>("Conflict")(fields("Conflict"), { httpApiStatus: 409 }) {}

/** The body is larger than the operation takes. */
export class PayloadTooLarge extends Schema.Error<PayloadTooLarge>("PayloadTooLarge")(fields("PayloadTooLarge"), {
  httpApiStatus: 413
}) {}

/** The body is of a kind that the operation does not take, or compressed. */
export class UnsupportedMediaType extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")(
  fields("UnsupportedMediaType"),
  { httpApiStatus: 415 }
) {}

/** The service does not serve this host name. */
export class MisdirectedRequest extends Schema.Error<MisdirectedRequest>("MisdirectedRequest")(
  fields("MisdirectedRequest"),
  { httpApiStatus: 421 }
) {}

/** The client has to slow down. */
export class TooManyRequests extends Schema.Error<TooManyRequests>("TooManyRequests")(fields("TooManyRequests"), {
  httpApiStatus: 429
}) {}

/** The service failed. */
export class InternalServerError extends Schema.Error<InternalServerError>("InternalServerError")(
  fields("InternalServerError"),
  { httpApiStatus: 500 }
) {}

/** The service cannot answer now. */
export class ServiceUnavailable extends Schema.Error<ServiceUnavailable>("ServiceUnavailable")(
  fields("ServiceUnavailable"),
  { httpApiStatus: 503 }
) {}

/** The body of every error. */
export const ErrorBody = Schema.Struct({ Error: Schema.String })

/** Declares the errors that every operation may answer besides its own. */
export class RequestErrors extends HttpApiMiddleware.Service<RequestErrors>()("@roster/api/RequestErrors", {
  error: [BadRequest, RequestTimeout, MisdirectedRequest, InternalServerError, ServiceUnavailable]
}) {}

/** The errors of a JSON body, for an operation that takes one. */
export const bodyErrors = [PayloadTooLarge, UnsupportedMediaType] as const
