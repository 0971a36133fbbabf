/**
 * Refusals as they travel: a status and `{"Error": "text"}`, whatever the operation. The tag is for code and not on the
 * wire. (docs/decisions/status-codes.md)
 */
import { Schema } from "effect"

const fields = <const Tag extends string>(tag: Tag) => ({ _tag: Schema.tagDefaultOmit(tag), Error: Schema.String })

/** The request is malformed, or refused for what it says. */
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")(fields("BadRequest"), { httpApiStatus: 400 }) {}

/** The key is missing, unknown or expired. */
export class KeyRefused extends Schema.Error<KeyRefused>("KeyRefused")(fields("KeyRefused"), { httpApiStatus: 401 }) {}

/** The key lacks the access level, is used from an address outside its ranges, or would give more than it has. */
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")(fields("Forbidden"), { httpApiStatus: 403 }) {}

export class NotFound extends Schema.Error<NotFound>("NotFound")(fields("NotFound"), { httpApiStatus: 404 }) {}

/** The name is taken, the account holds as many as it can, or the key is the last one that can manage keys. */
export class Conflict extends Schema.Error<Conflict>("Conflict")(fields("Conflict"), { httpApiStatus: 409 }) {}

export class TooManyRequests extends Schema.Error<TooManyRequests>("TooManyRequests")(fields("TooManyRequests"), {
  httpApiStatus: 429
}) {}

export class ServerFailure extends Schema.Error<ServerFailure>("ServerFailure")(fields("ServerFailure"), {
  httpApiStatus: 500
}) {}

export class ServerUnavailable extends Schema.Error<ServerUnavailable>("ServerUnavailable")(
  fields("ServerUnavailable"),
  { httpApiStatus: 503 }
) {}

/** The body of every refusal. */
export const ErrorBody = Schema.Struct({ Error: Schema.String })
